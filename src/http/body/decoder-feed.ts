/**
 * The way of an encoded body into its decoder, no faster than the decoder takes it. A piece is cut as the decoder needs it, and
 * the next one is given when the one before is decoded, so that nothing piles up.
 */
import { type Readable, type Transform, Writable } from 'node:stream'
import { brokenOff } from './read-body.ts'

interface Target {
  readonly decoder: Transform
  /** May throw, which ends the decoder with that error. */
  readonly split: (piece: Buffer) => Iterable<Buffer>
  /** Throws when the stream is not whole. */
  readonly end: () => void
}

export class DecoderFeed extends Writable {
  readonly #target: Target
  readonly #input: { bytes: number }

  /** Counts in `input` what has come. */
  constructor(target: Target, input: { bytes: number }) {
    super()
    this.#target = target
    this.#input = input
  }

  /** Takes all of `encoded`. A source that breaks off, or is taken away before its end, ends the decoder. */
  take(encoded: Readable): void {
    const { decoder } = this.#target
    const broken = (): void => {
      if (!encoded.readableEnded) decoder.destroy(brokenOff())
    }
    encoded.once('error', broken).once('close', broken)
    this.once('unpipe', () => {
      encoded.off('error', broken).off('close', broken)
      if (!encoded.readableEnded) decoder.destroy()
    })
    encoded.pipe(this)
  }

  override _write(piece: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#input.bytes += piece.length
    const slices = this.#target.split(piece)[Symbol.iterator]()
    this.#writeNext(slices, done)
  }

  override _final(done: () => void): void {
    this.#orDestroy(() => {
      this.#target.end()
      this.#target.decoder.end()
    })
    done()
  }

  #writeNext(slices: Iterator<Buffer>, done: () => void): void {
    const { decoder } = this.#target
    this.#orDestroy(() => {
      const next = slices.next()
      // What comes for a decoder that has ended is dropped here; it is too much, which its reader finds by the count.
      if (next.done === true || decoder.destroyed || decoder.readableEnded) done()
      else decoder.write(next.value, () => this.#writeNext(slices, done))
    })
  }

  /** A failure is the decoder's: it is told where its output is read. */
  #orDestroy(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#target.decoder.destroy(error as Error)
    }
  }
}
