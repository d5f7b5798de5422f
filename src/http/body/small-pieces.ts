/** Pieces of a body from this many bytes on are kept as they come; smaller ones are copied together. */
export const SMALL_PIECE_BYTES = 4_096
const FIRST_BYTES = 1_024
const MOST_BYTES = 65_536

/**
 * Small pieces of a body, copied into one buffer. A piece of one byte costs hundreds of bytes as an object of its own, so that
 * memory would not follow the bytes received: a client chooses how small its chunks and packets are.
 */
export class SmallPieces {
  #buffer: Buffer | undefined
  #bytes = 0

  /** How many bytes it has. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether a small piece may not fit any more. */
  get isFull(): boolean {
    return this.#bytes > MOST_BYTES - SMALL_PIECE_BYTES
  }

  /** Copies `piece`, which is shorter than {@link SMALL_PIECE_BYTES}. */
  add(piece: Uint8Array): void {
    const bytes = this.#bytes + piece.length
    this.#grown(bytes).set(piece, this.#bytes)
    this.#bytes = bytes
  }

  /** All bytes, in memory that nobody else has. It is empty after. */
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
