/**
 * Cuts a value that arrives in pieces into chunks, with one chunk in memory. Chunks, sums and facts
 * are the same as those of `planValue` for a whole value. A text becomes a binary at the first byte
 * that is not UTF-8; chunks before it stay as they were cut. No digest is computed here.
 */
import { isUtf8 } from 'node:buffer'
import { CHUNK_BYTES, PREVIEW_TAIL_BYTES, PREVIEW_WHOLE_TEXT_BYTES } from '../limits.ts'
import type { TextExcerpt } from '../preview/preview.ts'
import { addText, type TextSums } from '../text.ts'
import { type ChunkPlan, CUT_AHEAD_BYTES, cutText, type ViewTotals } from './view.ts'

const LF = 0x0a
const NOTHING: TextSums = { chars: 0, newlines: 0, crlfs: 0 }

/** A chunk with its bytes. The bytes are all of their `ArrayBuffer`, so it can be transferred. */
export type CutChunk = Omit<ChunkPlan, 'endByte'> & { readonly bytes: Buffer }

/** Chunks of one value. */
export class Cutter {
  readonly #chunkBytes: number
  /** Bytes that are not cut yet: at most a chunk, and the bytes after it that a cut looks at. */
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

  /** Copies the next bytes. Yields each chunk that is full. */
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

  /** Yields the remaining chunks at the end of the value. An empty value has one empty chunk. */
  *end(): Generator<CutChunk> {
    if (this.#waitingBytes === 0 && this.#totalBytes > 0) return
    do yield this.#cut()
    while (this.#waitingBytes > 0)
  }

  /** Kind of the value, as far as it has arrived. */
  get kind(): 'text' | 'binary' {
    return this.#isText ? 'text' : 'binary'
  }

  /** Bytes cut so far. */
  get totalBytes(): number {
    return this.#totalBytes
  }

  /** Totals of the view of the bytes cut so far; zeros for a binary. */
  get totals(): ViewTotals {
    if (!this.#isText) return { chars: 0, lines: 0, bytes: 0 }
    const { chars, newlines } = this.#sums
    const endsLine = (this.#tail.at(-1) ?? LF) === LF
    return { chars, lines: endsLine ? newlines : newlines + 1, bytes: this.#totalBytes }
  }

  /** Size and both ends of the text, for its preview. */
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
