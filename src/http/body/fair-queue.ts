/**
 * Work that takes milliseconds, such as to read a large body: a piece of it in each turn of the event loop, in the order in
 * which it came, so that small requests are answered in between however many large ones come at once.
 */

/** What small pieces of one turn may come to: a turn for each would cost a tenth of them again. */
const TURN_BYTES = 65_536

interface Piece {
  readonly bytes: number
  readonly work: () => void
}

export class Turns {
  readonly #waiting: Piece[] = []
  #isDue = false

  /** `work`, which is on so many bytes, has to take care of what it throws. */
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
      // what these add comes in another turn
      for (let left = this.#fitting(); left > 0; left--) this.#waiting.shift()?.work()
    } finally {
      this.#isDue = false
      this.#wake()
    }
  }

  /** How many pieces fit in a turn: one, however large it is, or as many small ones as come to no more. */
  #fitting(): number {
    let bytes = 0
    const first = this.#waiting.findIndex((piece, n) => {
      bytes += piece.bytes
      return n > 0 && bytes > TURN_BYTES
    })
    return first < 0 ? this.#waiting.length : first
  }
}
