/**
 * A value that arrives in pieces, cut into chunks as it comes: the same chunks, sums and facts as `planValue` has for the
 * whole, with one chunk in memory. What is taken for a text turns out to be a binary at the first byte that is no UTF-8; the
 * chunks before it stay as they were cut. Takes no digest.
 */
import { isUtf8 } from 'node:buffer'
import { CHUNK_BYTES, PREVIEW_TAIL_BYTES, PREVIEW_WHOLE_TEXT_BYTES } from '../limits.ts'
import type { TextExcerpt } from '../preview/preview.ts'
import { addText, type TextSums } from '../text.ts'
import { type ChunkPlan, CUT_AHEAD_BYTES, cutText, type ViewTotals } from './view.ts'

const LF = 0x0a
const NOTHING: TextSums = { chars: 0, newlines: 0, crlfs: 0 }

/** A chunk with its bytes, which are the whole of their memory. */
export type CutChunk = Omit<ChunkPlan, 'endByte'> & { readonly bytes: Buffer }

export class Cutter {
  readonly #chunkBytes: number
  /** What has come and is not cut yet: up to a chunk, and what a cut has to look at after it. */
  readonly #waiting: Buffer
  #waitingBytes = 0
  #isText: boolean
  #sums = NOTHING
  #totalBytes = 0
  #head: Buffer = Buffer.alloc(0)
  #tail: Buffer = Buffer.alloc(0)

  constructor(kind: 'text' | 'binary', chunkBytes: number = CHUNK_BYTES) {
    this.#isText = kind === 'text'
    this.#chunkBytes = chunkBytes
    this.#waiting = Buffer.allocUnsafeSlow(chunkBytes + CUT_AHEAD_BYTES)
  }

  /** Copies the next bytes, and gives the chunks that are full. */
  *push(piece: Uint8Array): Generator<CutChunk> {
    let pos = 0
    while (pos < piece.length) {
      const taken = piece.subarray(pos, pos + this.#waiting.length - this.#waitingBytes)
      this.#waiting.set(taken, this.#waitingBytes)
      this.#waitingBytes += taken.length
      pos += taken.length
      if (this.#waitingBytes === this.#waiting.length) yield this.#cut()
    }
  }

  /** The chunks that are left when all has come; one, if empty, of an empty value. */
  *end(): Generator<CutChunk> {
    if (this.#waitingBytes === 0 && this.#totalBytes > 0) return
    do yield this.#cut()
    while (this.#waitingBytes > 0)
  }

  get kind(): 'text' | 'binary' {
    return this.#isText ? 'text' : 'binary'
  }

  get totalBytes(): number {
    return this.#totalBytes
  }

  /** Of the view of what was cut; zeros for a binary. */
  get totals(): ViewTotals {
    if (!this.#isText) return { chars: 0, lines: 0, bytes: 0 }
    const { chars, newlines } = this.#sums
    const endsLine = (this.#tail.at(-1) ?? LF) === LF
    return { chars, lines: endsLine ? newlines : newlines + 1, bytes: this.#totalBytes }
  }

  /** What a preview of the text needs. */
  get excerpt(): TextExcerpt {
    const { lines, bytes } = this.totals
    return { bytes, lines, head: this.#head, tail: this.#tail }
  }

  #cut(): CutChunk {
    const { chars: firstChar, newlines: firstLine, crlfs: firstCrlf } = this.#sums
    const firstByte = this.#totalBytes
    const bytes = this.#take()
    this.#measure(bytes)
    return { firstByte, firstLine, firstCrlf, firstChar, state: 0, bytes }
  }

  #take(): Buffer {
    const target = Math.min(this.#waitingBytes, this.#chunkBytes)
    const end = this.#isText ? cutText(this.#waiting, target, this.#waitingBytes) : target
    const bytes = Buffer.allocUnsafeSlow(end)
    this.#waiting.copy(bytes, 0, 0, end)
    this.#waiting.copyWithin(0, end, this.#waitingBytes)
    this.#waitingBytes -= end
    return bytes
  }

  #measure(bytes: Buffer): void {
    this.#totalBytes += bytes.length
    if (!this.#isText) return
    this.#isText = isUtf8(bytes)
    this.#sums = this.#isText ? addText(this.#sums, bytes) : NOTHING
    if (this.#head.length < PREVIEW_WHOLE_TEXT_BYTES) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, PREVIEW_WHOLE_TEXT_BYTES)])
    }
    this.#tail = Buffer.concat([this.#tail, bytes.subarray(-PREVIEW_TAIL_BYTES)])
    this.#tail = Buffer.from(this.#tail.subarray(-PREVIEW_TAIL_BYTES))
  }
}
