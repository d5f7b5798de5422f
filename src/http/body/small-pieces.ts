/** Bytes from which a piece of a body is kept as it comes. Smaller ones are copied together. */
export const SMALL_PIECE_BYTES = 4_096
const FIRST_BYTES = 1_024
const MOST_BYTES = 65_536

/**
 * Small pieces of a body, copied into one buffer. As a separate object, a piece of one byte costs
 * hundreds of bytes. A client chooses how small its chunks and packets are, so memory would not be
 * bounded by the bytes received.
 */
export class SmallPieces {
  #buffer: Buffer | undefined
  #bytes = 0

  /** Number of bytes in the buffer. */
  get bytes(): number {
    return this.#bytes
  }

  /** True when another small piece might not fit. */
  get isFull(): boolean {
    return this.#bytes > MOST_BYTES - SMALL_PIECE_BYTES
  }

  /** Copies `piece`, which is shorter than {@link SMALL_PIECE_BYTES}. */
  add(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length
    this.#grown(bytes).set(piece, this.#bytes)
    this.#bytes = bytes
  }

  /** Returns all bytes, in memory that nothing else uses, and empties the buffer. */
  take(): Buffer {
    const all = (this.#buffer ?? Buffer.alloc(0)).subarray(0, this.#bytes)
    this.#buffer = undefined
    this.#bytes = 0
    return all
  }

  #grown(bytes: number): Buffer {
    const old = this.#buffer
    if (old !== undefined && old.length >= bytes) return old
    const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, 2 * bytes))
    old?.copy(grown, 0, 0, this.#bytes)
    this.#buffer = grown
    return grown
  }
}
