/**
 * Queue for work that takes milliseconds, such as reading a large body. Each turn of the event loop
 * does one piece of work, in order of arrival, so small requests are answered in between.
 */

/** Most bytes of small pieces in one turn. A turn for each would cost about a tenth more. */
const TURN_BYTES = 65_536

interface Piece {
  readonly bytes: number
  readonly work: () => void
}

/** The queue. */
export class Turns {
  readonly #waiting: Piece[] = []
  #isDue = false

  /** Queues `work` on a number of bytes. It must catch its own errors. */
  run(bytes: number, work: () => void): void {
    this.#waiting.push({ bytes, work })
    this.#wake()
  }

  #wake(): void {
    if (this.#isDue || this.#waiting.length === 0) return
    this.#isDue = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    try {
      // Work that these pieces add is done in another turn.
      for (let left = this.#fitting(); left > 0; left--) this.#waiting.shift()?.work()
    } finally {
      this.#isDue = false
      this.#wake()
    }
  }

  /** Number of pieces for a turn: one of any size, or small ones up to the limit together. */
  #fitting(): number {
    let bytes = 0
    const first = this.#waiting.findIndex((piece, n) => {
      bytes += piece.bytes
      return n > 0 && bytes > TURN_BYTES
    })
    return first < 0 ? this.#waiting.length : first
  }
}
