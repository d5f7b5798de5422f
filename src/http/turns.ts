/**
 * Work that takes milliseconds, such as to read a large body: one piece of it in each turn of the event loop, in the order in
 * which it came, so that small requests are answered in between however many large ones come at once.
 */
export class Turns {
  readonly #waiting: (() => void)[] = []

  /** `work` has to take care of what it throws. */
  run(work: () => void): void {
    if (this.#waiting.push(work) === 1) setImmediate(() => this.#next())
  }

  #next(): void {
    try {
      // it waits until it is done, so that what it adds comes in a turn of its own
      this.#waiting[0]?.()
    } finally {
      this.#waiting.shift()
      if (this.#waiting.length > 0) setImmediate(() => this.#next())
    }
  }
}
