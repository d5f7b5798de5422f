/**
 * The ledger in a SQLite file.
 *
 * Writes go to a thread, in order, and are answered when they are committed. Reads run in this
 * thread on their own connection and see what is committed. A value is read a few chunks at a time,
 * so that no statement stays open while a reader is slow. When the writer thread has ended, reads
 * go on.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CoatcheckError } from '../../core/errors.ts'
import type {
  Chunk,
  ChunkSeek,
  DiskSizes,
  EndCounts,
  Ledger,
  Put,
  PutNames,
  Queued,
  Result,
  ResultQuery,
  Run,
  RunPatch,
  RunRef,
  RunSummary,
  Standing,
  Totals,
  Upload,
} from '../ledger.ts'
import type { Page, ResultsQuery, RunsQuery } from '../lists.ts'
import { diskSizes } from './file/disk-sizes.ts'
import { Lists } from './main-thread/lists.ts'
import type { ReadFaults } from './main-thread/read-faults.ts'
import type { FoundChunk, Reader } from './main-thread/reader.ts'
import { SqliteUpload } from './main-thread/upload.ts'
import type { Writes } from './main-thread/write-client.ts'
import type { SentTouches } from './protocol/last-requests.ts'
import type { Appended } from './protocol/messages.ts'
import { handOver } from './protocol/transfer.ts'

/**
 * Most chunks that are read at once, about 1 MiB. A read starts with one chunk, which is often
 * enough, and then doubles.
 */
const READ_CHUNKS = 16
/** After this many chunks, some milliseconds of work, the event loop gets a turn. */
const TURN_CHUNKS = 32
const NO_NAMES: PutNames = { toolUseId: '', idempotencyKey: null }

/** The ledger in a SQLite file. Created by `open.ts`. */
export class SqliteLedger implements Ledger {
  readonly #reader: Reader
  readonly #writes: Writes
  readonly #touches: SentTouches
  readonly #faults: ReadFaults
  readonly #path: string
  #isFlushing = false
  #closed: Promise<void> | undefined

  constructor(
    reader: Reader,
    writes: Writes,
    {
      touches,
      faults,
      path,
    }: { readonly touches: SentTouches; readonly faults: ReadFaults; readonly path: string },
  ) {
    this.#reader = reader
    this.#writes = writes
    this.#touches = touches
    this.#faults = faults
    this.#path = path
  }

  async ping(): Promise<void> {
    // The writer is asked even when the read fails: it finds the cause and reports it.
    await Promise.all([this.#reading(() => this.#open.ping()), this.#writes.ask({ name: 'ping' })])
  }

  async openRun(
    ref: RunRef,
    patch: RunPatch,
    now: number,
  ): Promise<{ run: Run; created: boolean }> {
    this.#open.tell(now)
    return this.#reader.changing(() => this.#writes.ask({ name: 'openRun', ref, patch, now }))
  }

  async findRun(ref: RunRef, now: number): Promise<Run | undefined> {
    return this.#reading(() => this.#open.findRun(ref, now))
  }

  async findStanding(ref: RunRef, now: number): Promise<Standing | undefined> {
    return this.#reading(() => this.#open.findStanding(ref, now))
  }

  async listRuns(tenant: string, query: RunsQuery, now: number): Promise<Page<RunSummary>> {
    return this.#reading(() => new Lists(this.#open).runs(tenant, query, now))
  }

  async endRun(ref: RunRef, how: { readonly purge: boolean }, now: number): Promise<EndCounts> {
    this.#open.tell(now)
    const counts = await this.#reader.changing(() =>
      this.#writes.ask({ name: 'endRun', ref, how, now }),
    )
    if (how.purge) this.#reader.forget()
    return counts
  }

  async findTool(ref: RunRef, name: string): Promise<Buffer | undefined> {
    return this.#reading(() => this.#open.findTool(ref, name))
  }

  touch(ref: RunRef, now: number): void {
    const key = this.#open.findOpenKey(ref, now)
    if (key === undefined) return
    this.#touches.note(key, now)
    if (this.#touches.areMany && !this.#isFlushing) void this.#flush()
  }

  async append(ref: RunRef, put: Put, now: number): Promise<Appended> {
    this.#open.tell(now)
    this.#writes.requireRoom(put.value.length)
    const handed = handOver(put)
    return this.#writes.ask({ name: 'append', ref, put: handed.put, now }, handed.transfer)
  }

  requireRoom(bytes: number): void {
    this.#writes.requireRoom(bytes)
  }

  queued(): Queued {
    return this.#writes.queued()
  }

  diskSizes(): Promise<DiskSizes> {
    return diskSizes(this.#path)
  }

  async findResult(ref: RunRef, query: ResultQuery): Promise<Result | undefined> {
    return this.#reading(() => this.#open.findResult(ref, query))
  }

  async listResults(ref: RunRef, query: ResultsQuery): Promise<Page<Result>> {
    return this.#reading(() => new Lists(this.#open).results(ref, query))
  }

  async firstNumbers(ref: RunRef, limit: number): Promise<readonly number[]> {
    return this.#reading(() => this.#open.firstNumbers(ref, limit))
  }

  chunks(result: Result, seek: ChunkSeek): AsyncIterable<Chunk> {
    return this.#chunks(() => this.#open.findChunk(result, seek))
  }

  async openUpload(ref: RunRef, now: number, names: PutNames = NO_NAMES): Promise<Upload> {
    this.#open.tell(now)
    const key = await this.#writes.ask({ name: 'openUpload', ref, names, now })
    return new SqliteUpload({
      key,
      ref,
      now,
      writes: this.#writes,
      chunks: (chunks, seek) => this.#chunks(() => this.#open.findStaged({ key, chunks }, seek)),
    })
  }

  async totals(): Promise<Totals> {
    return this.#open.totals()
  }

  async sweep(now: number): Promise<boolean> {
    this.#open.tell(now)
    const more = await this.#reader.changing(() => this.#writes.ask({ name: 'sweep', now }))
    this.#reader.forget()
    return more
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async *#chunks(find: () => FoundChunk): AsyncGenerator<Chunk> {
    const { chunks, rest } = await this.#reading(find)
    yield* chunks
    let { first } = rest
    let turnChunks = chunks.length
    for (let count = 2; first < rest.end; count = Math.min(2 * count, READ_CHUNKS)) {
      const end = Math.min(first + count, rest.end)
      yield* await this.#reading(() => this.#open.readChunks({ ...rest, first, end }))
      first = end
      turnChunks += count
      // Decoding takes time. Other work gets its turn.
      if (turnChunks >= TURN_CHUNKS) {
        turnChunks = 0
        await nextTurn()
      }
    }
  }

  /** Runs a query and checks its errors, see {@link ReadFaults.again}. */
  async #reading<Answer>(query: () => Answer | Promise<Answer>): Promise<Answer> {
    try {
      return await query()
    } catch (error) {
      return this.#faults.again(error, query)
    }
  }

  /**
   * Closes the reading connection first: the last connection to close copies the log into the
   * ledger.
   */
  async #close(): Promise<void> {
    this.#reader.close()
    await this.#writes.close()
  }

  /** Writes the noted requests. After a failure they stay noted and go with the next write. */
  async #flush(): Promise<void> {
    this.#isFlushing = true
    try {
      await this.#writes.ask({ name: 'flush' })
    } catch {
    } finally {
      this.#isFlushing = false
    }
  }

  get #open(): Reader {
    if (this.#closed === undefined) return this.#reader
    throw new CoatcheckError('ledger_unavailable', 'The ledger is closed.')
  }
}
