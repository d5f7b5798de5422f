/** Bytes that each tenant has of a shared memory. */

interface Held {
  readonly tenant: string | undefined
  readonly countedBytes: number
}

/** The shares of all tenants. */
export class Shares {
  readonly #bytes = new Map<string | undefined, number>()
  readonly #mostBytes: number

  /** `mostBytes` is the share above which a tenant has too much. */
  constructor(held: Iterable<Held>, mostBytes: number) {
    this.#mostBytes = mostBytes
    for (const { tenant, countedBytes } of held) this.#add(tenant, countedBytes)
  }

  /** Whether the tenant of `other` has too much, and that of `body` has not after `bytes` more. */
  owes(other: Held, body: Held, bytes: number): boolean {
    return (
      this.#of(other.tenant) > this.#mostBytes && this.#of(body.tenant) + bytes <= this.#mostBytes
    )
  }

  /** Removes the bytes of a holder that gives way. */
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
