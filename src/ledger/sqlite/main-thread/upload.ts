/**
 * An upload as its caller has it. Chunks go to the writer as they come, and the next ones are taken when those before are
 * written: one batch is on its way while another is being made, and no more.
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
  /** Reads of the first so many that are written. */
  readonly chunks: (chunks: number, seek: ChunkSeek) => AsyncIterable<Chunk>
}

export class SqliteUpload implements Upload {
  readonly #parts: Parts
  #chunks = 0
  #bytes = 0
  /** Resolves when all that was added is written. */
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
    // told by the call that comes next
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
    // fails or not, nothing is left to give up
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
