/**
 * Requests that only move a run's idle time: held in memory until a transaction that is under way anyway takes them along,
 * so that a read costs no write. Bounded: past {@link TOUCHES_RUNS} the owner writes them.
 */
const TOUCHES_RUNS = 10_000

export class Touches {
  readonly #at = new Map<number, number>()

  /** By the run's key. */
  note(key: number, now: number): void {
    this.#at.set(key, Math.max(now, this.at(key)))
  }

  /** 0 when none is noted. */
  at(key: number): number {
    return this.#at.get(key) ?? 0
  }

  noted(): Iterable<readonly [key: number, at: number]> {
    return this.#at
  }

  get isFull(): boolean {
    return this.#at.size >= TOUCHES_RUNS
  }

  /** Once they are written. */
  clear(): void {
    this.#at.clear()
  }
}
