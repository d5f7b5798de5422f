/** What each tenant has of some memory that all share. */

interface Held {
  readonly tenant: string | undefined
  readonly countedBytes: number
}

export class Shares {
  readonly #bytes = new Map<string | undefined, number>()
  readonly #mostBytes: number

  constructor(held: Iterable<Held>, mostBytes: number) {
    this.#mostBytes = mostBytes
    for (const { tenant, countedBytes } of held) this.#add(tenant, countedBytes)
  }

  /** Whether the tenant of `other` has too much, and that of `body` has not, with so many more bytes. */
  owes(other: Held, body: Held, bytes: number): boolean {
    return (
      this.#of(other.tenant) > this.#mostBytes && this.#of(body.tenant) + bytes <= this.#mostBytes
    )
  }

  take({ tenant, countedBytes }: Held): void {
    this.#add(tenant, -countedBytes)
  }

  #add(tenant: string | undefined, bytes: number): void {
    this.#bytes.set(tenant, this.#of(tenant) + bytes)
  }

  #of(tenant: string | undefined): number {
    return this.#bytes.get(tenant) ?? 0
  }
}
