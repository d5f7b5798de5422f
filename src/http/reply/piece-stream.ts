/**
 * Payload of a reply whose bytes are read while they are sent. The framework pipes it like any
 * stream. Its own `pipe` does not copy pieces together, and sends many in one write, since one turn
 * of the event loop for each piece costs more than sending it. Further pieces are read when the
 * earlier ones have left, so a slow client blocks no other and uses little memory.
 *
 * It ends after exactly the promised bytes. Otherwise it fails, which breaks the connection; an
 * error before the first write is still answered as a problem.
 */
import { once } from 'node:events'
import { Readable, type Writable } from 'node:stream'

/** Size of the first write. It is less than a chunk, so that the first byte leaves early. */
const FIRST_WRITE_BYTES = 32_768
/** Default of the bytes that may be on their way. */
export const WRITE_BYTES = 1_048_576

/** Stream of pieces with a known length. */
export class PieceStream extends Readable {
  readonly #pieces: AsyncIterable<Buffer>
  readonly totalBytes: number
  /** Most bytes that may be on their way. */
  writeBytes = WRITE_BYTES
  readonly #gone = new AbortController()

  /** `pieces` must yield `totalBytes` in all. Nothing is read before the stream is piped. */
  constructor(pieces: AsyncIterable<Buffer>, totalBytes: number) {
    super()
    this.#pieces = pieces
    this.totalBytes = totalBytes
  }

  override pipe<Target extends NodeJS.WritableStream>(target: Target): Target {
    void this.#pipeInto(target as unknown as Writable)
    return target
  }

  override _read(): void {}

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#gone.abort()
    done(error)
  }

  async #pipeInto(target: Writable): Promise<void> {
    try {
      await this.#writeAll(target)
    } catch (error) {
      this.destroy(error as Error)
      return
    }
    if (this.destroyed) return
    target.end()
    this.push(null)
    this.resume()
  }

  async #writeAll(target: Writable): Promise<void> {
    const { signal } = this.#gone
    let leftBytes = this.totalBytes
    let held: Buffer[] = []
    let heldBytes = 0
    let enoughBytes = FIRST_WRITE_BYTES
    for await (const piece of this.#pieces) {
      if (signal.aborted) return
      held.push(piece)
      heldBytes += piece.length
      leftBytes -= piece.length
      if (heldBytes < enoughBytes && leftBytes > 0) continue
      const isFull = !writeTogether(target, held)
      held = []
      heldBytes = 0
      enoughBytes = Math.min(2 * enoughBytes, this.writeBytes)
      // The next pieces are read while one write is under way.
      if (isFull && target.writableLength >= this.writeBytes)
        await once(target, 'drain', { signal })
    }
    if (leftBytes !== 0) throw new Error(`a reply of ${this.totalBytes} bytes lacks ${leftBytes}`)
  }
}

/** Writes the pieces together. False when the target is full. */
function writeTogether(target: Writable, pieces: readonly Buffer[]): boolean {
  let wantsMore = true
  target.cork()
  for (const piece of pieces) wantsMore = target.write(piece)
  target.uncork()
  return wantsMore
}
