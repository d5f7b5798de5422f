/**
 * Finds where an HTTP/1.1 message may end in the bytes of a connection. The head of a request and a
 * body in chunks end with an empty line; any other body has a length. Bytes are cut there, so that
 * the parser never gets bytes of two requests at once. A cut at an empty line within a chunk does
 * no harm.
 */
const CR = 0x0d
const LF = 0x0a
const EMPTY_LINE = Buffer.from('\r\n\r\n')

/** Finder of the ends of one connection's messages. */
export class MessageEnds {
  /** Bytes left of a body that has a length. */
  #bodyBytes = 0
  /** Bytes of an empty line that the last bytes match. */
  #matched = 0

  /** Announces a body of this many bytes. */
  bodyFollows(bytes: number): void {
    this.#bodyBytes = bytes
  }

  /** End of the bytes from `at` that belong to one message. These bytes count as read. */
  next(piece: Buffer, at: number): number {
    if (this.#bodyBytes > 0) {
      const bytes = Math.min(this.#bodyBytes, piece.length - at)
      this.#bodyBytes -= bytes
      return at + bytes
    }
    let start = at
    while (this.#matched > 0 && start < piece.length) {
      this.#match(piece[start] as number)
      start += 1
      if (this.#matched === EMPTY_LINE.length) return this.#cut(start)
    }
    const found = piece.indexOf(EMPTY_LINE, start)
    if (found >= 0) return this.#cut(found + EMPTY_LINE.length)
    for (const byte of piece.subarray(Math.max(start, piece.length - EMPTY_LINE.length + 1)))
      this.#match(byte)
    return piece.length
  }

  #cut(end: number): number {
    this.#matched = 0
    return end
  }

  #match(byte: number): void {
    const expected = this.#matched % 2 === 0 ? CR : LF
    if (byte === expected) this.#matched += 1
    else this.#matched = byte === CR ? 1 : 0
  }
}
