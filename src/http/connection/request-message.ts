/**
 * A request as the HTTP parser makes it. While earlier bytes are unread, small pieces of the body
 * are copied together. So a body in chunks of one byte holds no more memory than any other.
 */
import { IncomingMessage } from 'node:http'
import { SMALL_PIECE_BYTES, SmallPieces } from '../body/small-pieces.ts'

/** Request that joins small pieces of its body. */
export class RequestMessage extends IncomingMessage {
  /** Small pieces after the bytes of the stream. Undefined while the stream is empty. */
  #tail: SmallPieces | undefined

  /** False when the stream has enough for now. */
  override push(piece: Buffer | null, encoding?: BufferEncoding): boolean {
    const isSmall = piece !== null && piece.length < SMALL_PIECE_BYTES
    if (!isSmall || this.readableLength === 0 || this.#tail?.isFull === true) {
      this.#pushTail()
      return super.push(piece, encoding)
    }
    this.#tail ??= new SmallPieces()
    this.#tail.add(piece)
    return this.readableLength + this.#tail.bytes < this.readableHighWaterMark
  }

  override read(size?: number): unknown {
    const piece = super.read(size) as unknown
    if (this.readableLength === 0) this.#pushTail()
    return piece
  }

  #pushTail(): void {
    const tail = this.#tail
    this.#tail = undefined
    if (tail !== undefined) super.push(tail.take())
  }
}
