/**
 * An upload as the caller sees it. Chunks go to the writer as they come. The next batch is accepted
 * when the one before is written: at most one batch is being written while the caller makes
 * another.
 */
import { CoatcheckError } from '../../../core/errors.ts'
import type { Chunk, ChunkSeek, RunRef, StreamedPut, Upload } from '../../ledger.ts'
import type { Appended } from '../protocol/messages.ts'
import { handOverChunks } from '../protocol/transfer.ts'
import type { Writes } from './write-client.ts'

interface Parts {
  readonly key: number
  readonly ref: RunRef
  readonly now: number
  readonly writes: Writes
  /** Reads the first `chunks` chunks of the upload, which are written, from `seek` on. */
  readonly chunks: (chunks: number, seek: ChunkSeek) => AsyncIterable<Chunk>
}

/** Upload to a ledger in a SQLite file. */
export class SqliteUpload implements Upload {
  readonly #parts: Parts
  #chunks = 0
  #bytes = 0
  /** Resolves when everything that was added is written. */
  #written: Promise<unknown> = Promise.resolve()
  #state: 'open' | 'failed' | 'finished' = 'open'

  constructor(parts: Parts) {
    this.#parts = parts
  }

  async add(chunks: readonly Chunk[]): Promise<void> {
    await this.#settled()
    const { key: upload, now, writes } = this.#parts
    this.#chunks += chunks.length
    for (const { bytes } of chunks) this.#bytes += bytes.length
    const handed = handOverChunks(chunks)
    const call = { name: 'stage', upload, chunks: handed.chunks, now } as const
    this.#written = writes.ask(call, handed.transfer)
    // The next call throws it.
    this.#written.catch(() => undefined)
  }

  async *chunks(seek: ChunkSeek): AsyncGenerator<Chunk> {
    await this.#settled()
    yield* this.#parts.chunks(this.#chunks, seek)
  }

  async finish(put: StreamedPut, now: number): Promise<Appended> {
    await this.#settled()
    if (this.#chunks === 0 || this.#bytes !== put.totalBytes) {
      throw new TypeError('The value of an upload is not the one that was added.')
    }
    const { key: upload, ref, writes } = this.#parts
    // Whether this succeeds or fails, the writer keeps or erases the chunks, so `abort` has nothing
    // to do.
    this.#state = 'finished'
    return writes.ask({ name: 'finish', upload, ref, put, now })
  }

  async abort(): Promise<void> {
    if (this.#state === 'finished') return
    this.#state = 'failed'
    await this.#written.catch(() => undefined)
    await this.#parts.writes.ask({ name: 'abort', upload: this.#parts.key })
  }

  async #settled(): Promise<void> {
    if (this.#state !== 'open') {
      throw new CoatcheckError('internal_error', 'The upload was finished or has failed before.')
    }
    try {
      await this.#written
    } catch (error) {
      this.#state = 'failed'
      throw error
    }
  }
}
