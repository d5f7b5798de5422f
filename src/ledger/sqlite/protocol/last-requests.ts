/**
 * Requests that only move a run's idle time: held in memory until a transaction that is under way anyway takes them along,
 * so that a read costs no write. The owner has them written when there are many; past a bound, those of further runs are
 * forgotten, which can only make such a run expire early.
 */
const MANY_RUNS = 10_000
const MOST_RUNS = 2 * MANY_RUNS

/** A run's key, and when it was asked for. */
export type Touch = readonly [key: number, at: number]

/** As noted, by run. Reads go by these until they are written. */
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

  noted(): Iterable<Touch> {
    return this.#at
  }

  get size(): number {
    return this.#at.size
  }

  /** Once all are written. */
  clear(): void {
    this.#at.clear()
  }

  /** Once these are written; a run that was asked for again since stays noted. */
  drop(written: Iterable<Touch>): void {
    for (const [key, at] of written) if (this.at(key) <= at) this.#at.delete(key)
  }
}

/** Touches on their way to the thread that writes them: noted, sent once, and read until they are known to be written. */
export class SentTouches {
  readonly #noted = new Touches()
  readonly #unsent = new Touches()
  /** Received by the writer, and not yet written. */
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

  /** True when so many are not written, as far as is known, that they should not wait for another write. */
  get areMany(): boolean {
    return this.#noted.size >= MANY_RUNS
  }

  /** Those that were not taken before, to be sent. */
  take(): readonly Touch[] {
    const touches = [...this.#unsent.noted()]
    this.#unsent.clear()
    return touches
  }

  /** The writer has these, and has written all that it has, or not yet. */
  received(touches: Iterable<Touch>, { written }: { readonly written: boolean }): void {
    for (const [key, at] of touches) this.#received.note(key, at)
    if (!written) return
    this.#noted.drop(this.#received.noted())
    this.#received.clear()
  }
}
