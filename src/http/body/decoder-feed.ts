/**
 * Feeds an encoded body to its decoder, no faster than the decoder takes it. Pieces are cut as the
 * decoder needs them. Each is written when the one before has been decoded, so none pile up.
 */
import { type Readable, type Transform, Writable } from 'node:stream'
import { brokenOff } from './read-body.ts'

interface Target {
  readonly decoder: Transform
  /** Cuts a piece for the decoder. An error that it throws ends the decoder. */
  readonly split: (piece: Buffer) => Iterable<Buffer>
  /** Throws when the stream is not complete. */
  readonly end: () => void
}

/** Stream that an encoded body is piped into. */
export class DecoderFeed extends Writable {
  readonly #target: Target
  readonly #input: { bytes: number }

  /** Counts the received bytes in `input`. */
  constructor(target: Target, input: { bytes: number }) {
    super()
    this.#target = target
    this.#input = input
  }

  /** Takes all of `encoded`. The decoder is destroyed when it breaks off or is unpiped early. */
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
      // Bytes after the decoder's end are dropped. Its reader sees them in the count and refuses.
      if (next.done === true || decoder.destroyed || decoder.readableEnded) done()
      else decoder.write(next.value, () => this.#writeNext(slices, done))
    })
  }

  /** Passes an error to the decoder, so that the reader of its output gets it. */
  #orDestroy(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#target.decoder.destroy(error as Error)
    }
  }
}
