/**
 * Just enough of HTTP/1.1 to know when an answer is whole: its status, and as many bytes as its content-length says. Not read:
 * chunked answers, trailers, more than one answer at a time.
 */

export interface Reply {
  readonly status: number
  readonly body: readonly Buffer[]
}

const HEAD_END = Buffer.from('\r\n\r\n')
const STATUS = /^HTTP\/1\.1 (\d{3})/
const LENGTH = /\r\ncontent-length: *(\d+)\r\n/i
const NOTHING = Buffer.alloc(0)

/** Reads one answer, from pieces as they arrive. */
export class ReplyReader {
  #head: Buffer = NOTHING
  #status = 0
  #missingBytes = Number.NaN
  readonly #body: Buffer[] = []

  /** The answer once it is whole. Throws when it cannot be read. */
  push(piece: Buffer): Reply | undefined {
    if (this.#status > 0) return this.#take(piece)
    this.#head = this.#head.length === 0 ? piece : Buffer.concat([this.#head, piece])
    const end = this.#head.indexOf(HEAD_END)
    if (end < 0) return undefined
    const head = this.#head.toString('latin1', 0, end + 2)
    this.#status = Number(STATUS.exec(head)?.[1])
    this.#missingBytes = Number(LENGTH.exec(head)?.[1])
    if (Number.isNaN(this.#status + this.#missingBytes)) throw new Error(`cannot read ${head}`)
    return this.#take(this.#head.subarray(end + HEAD_END.length))
  }

  #take(piece: Buffer): Reply | undefined {
    this.#missingBytes -= piece.length
    if (this.#missingBytes < 0) throw new Error('more came than the answer')
    this.#body.push(piece)
    return this.#missingBytes === 0 ? { status: this.#status, body: this.#body } : undefined
  }
}
