/**
 * Requests that only restart a run's idle time. They are kept in memory and written with the next
 * transaction, so that a read costs no write.
 *
 * The owner writes them when there are many. Beyond a bound, those of further runs are dropped. The
 * only effect is that such a run may expire early.
 */
const MANY_RUNS = 10_000
const MOST_RUNS = 2 * MANY_RUNS

/** Key of a run, and the time of its last request. */
export type Touch = readonly [key: number, at: number]

/** Last requests by the key of their run. Reads use them until they are written. */
export class Touches {
  readonly #at = new Map<number, number>()

  note(key: number, at: number): void {
    if (this.#at.size >= MOST_RUNS && !this.#at.has(key)) return
    this.#at.set(key, Math.max(at, this.at(key)))
  }

  /** 0 when none is noted. */
  at(key: number): number {
    return this.#at.get(key) ?? 0
  }

  /** Iterates over all that are noted. */
  noted(): Iterable<Touch> {
    return this.#at
  }

  /** Number of runs with a noted request. */
  get size(): number {
    return this.#at.size
  }

  /** Drops all. Called when all are written. */
  clear(): void {
    this.#at.clear()
  }

  /** Drops requests that are written. A run with a later request stays noted. */
  drop(written: Iterable<Touch>): void {
    for (const [key, at] of written) if (this.at(key) <= at) this.#at.delete(key)
  }
}

/**
 * Last requests on their way to the writer thread. Each is sent once, and used by reads until it is
 * known to be written.
 */
export class SentTouches {
  /** Not known to be written. */
  readonly #noted = new Touches()
  /** Not sent to the writer. */
  readonly #unsent = new Touches()
  /** Received by the writer and not yet written. */
  readonly #received = new Touches()

  note(key: number, at: number): void {
    if (at <= this.at(key)) return
    this.#noted.note(key, at)
    this.#unsent.note(key, at)
  }

  /** 0 when none is noted. */
  at(key: number): number {
    return this.#noted.at(key)
  }

  /** True when so many are not known to be written that they should not wait for another write. */
  get areMany(): boolean {
    return this.#noted.size >= MANY_RUNS
  }

  /** Returns the requests that were not sent yet, and counts them as sent. */
  take(): readonly Touch[] {
    const touches = [...this.#unsent.noted()]
    this.#unsent.clear()
    return touches
  }

  /**
   * Notes that the writer has received `touches`. With `written` it has written everything that it
   * received.
   */
  received(touches: Iterable<Touch>, { written }: { readonly written: boolean }): void {
    for (const [key, at] of touches) this.#received.note(key, at)
    if (!written) return
    this.#noted.drop(this.#received.noted())
    this.#received.clear()
  }
}
