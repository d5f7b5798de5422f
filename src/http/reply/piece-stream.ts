/**
 * The payload of a reply whose bytes are read while they are sent. The framework pipes it as any stream; what is its own is
 * how it pipes: the pieces are not copied together, and many go out in one write, since a turn of the loop for each of them
 * costs more than to send it. The next ones are read when those have left: a slow client holds up nobody, and no memory.
 *
 * It ends after exactly the bytes that were promised, or fails, which breaks the connection; what fails before the first
 * write is still answered as a problem.
 */
import { once } from 'node:events'
import { Readable, type Writable } from 'node:stream'

/** What is written at once: at first less than a chunk, so that the first byte leaves early. */
const FIRST_WRITE_BYTES = 32_768
/** What is on its way at most, where nothing else is said. */
export const WRITE_BYTES = 1_048_576

export class PieceStream extends Readable {
  readonly #pieces: AsyncIterable<Buffer>
  readonly totalBytes: number
  /** What may be on its way. */
  writeBytes = WRITE_BYTES
  readonly #gone = new AbortController()

  /** Nothing is read before it is piped. */
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
      // One write may be under way while the next is read.
      if (isFull && target.writableLength >= this.writeBytes)
        await once(target, 'drain', { signal })
    }
    if (leftBytes !== 0) throw new Error(`a reply of ${this.totalBytes} bytes lacks ${leftBytes}`)
  }
}

/** False when the target has more than it wants. */
function writeTogether(target: Writable, pieces: readonly Buffer[]): boolean {
  let wantsMore = true
  target.cork()
  for (const piece of pieces) wantsMore = target.write(piece)
  target.uncork()
  return wantsMore
}
