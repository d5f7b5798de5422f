/**
 * The ledger in a SQLite file. Puts the synchronous store behind the contract's promises: writes go through one queue, reads
 * see what is committed, and a value is read a few chunks at a time, so that no statement stays open while a reader is slow.
 */
import { CoatcheckError } from '../../core/errors.ts'
import type {
  Chunk,
  ChunkSeek,
  EndCounts,
  Ledger,
  LedgerPolicy,
  Page,
  PageQuery,
  Put,
  Result,
  ResultQuery,
  Run,
  RunPatch,
  RunRef,
} from '../ledger.ts'
import { ledgerError } from './errors.ts'
import { openFile } from './file.ts'
import { type Appended, WriteQueue } from './queue.ts'
import { type ChunkRange, Store } from './store.ts'

/** How many chunks are read at once: about half a MiB. */
const READ_CHUNKS = 8
const MS_PER_SECOND = 1000

/** A transaction of puts that has been committed. */
export interface Commit {
  /** How many it kept, retries included. */
  readonly puts: number
  readonly seconds: number
}

export interface LedgerOptions {
  readonly onCommit?: (commit: Commit) => void
}

/** Opens or makes the ledger at `path`; see `file.ts` for what it throws. */
export async function openSqliteLedger(
  path: string,
  policy: LedgerPolicy,
  options: LedgerOptions = {},
): Promise<Ledger> {
  const file = openFile(path)
  try {
    return new SqliteLedger(new Store(file, policy), options)
  } catch (error) {
    file.close()
    throw ledgerError(error)
  }
}

export class SqliteLedger implements Ledger {
  readonly #store: Store
  readonly #queue: WriteQueue
  #closed: Promise<void> | undefined

  /** Takes the store over: it is closed with the ledger. */
  constructor(store: Store, { onCommit }: LedgerOptions = {}) {
    this.#store = store
    this.#queue = new WriteQueue((appends) => {
      const startedAt = performance.now()
      const outcomes = store.append(appends)
      const puts = outcomes.filter((outcome) => 'result' in outcome).length
      onCommit?.({ puts, seconds: (performance.now() - startedAt) / MS_PER_SECOND })
      return outcomes
    })
  }

  async ping(): Promise<void> {
    this.#open.ping()
  }

  async openRun(
    ref: RunRef,
    patch: RunPatch,
    now: number,
  ): Promise<{ run: Run; created: boolean }> {
    const store = this.#open
    return this.#queue.run(() => store.openRun(ref, patch, now))
  }

  async findRun(ref: RunRef, now: number): Promise<Run | undefined> {
    return this.#open.findRun(ref, now)
  }

  async listRuns(tenant: string, page: PageQuery, now: number): Promise<Page<Run>> {
    return this.#open.listRuns(tenant, page, now)
  }

  async endRun(ref: RunRef, how: { readonly purge: boolean }, now: number): Promise<EndCounts> {
    const store = this.#open
    return this.#queue.run(() => store.endRun(ref, how, now))
  }

  async findTool(ref: RunRef, name: string): Promise<Buffer | undefined> {
    return this.#open.findTool(ref, name)
  }

  touch(ref: RunRef, now: number): void {
    this.#open.touch(ref, now)
  }

  async append(ref: RunRef, put: Put, now: number): Promise<Appended> {
    this.#requireOpen()
    return this.#queue.append({ ref, put, now })
  }

  async findResult(ref: RunRef, query: ResultQuery): Promise<Result | undefined> {
    return this.#open.findResult(ref, query)
  }

  async listResults(
    ref: RunRef,
    page: PageQuery & { readonly toolUseId?: string | undefined },
  ): Promise<Page<Result>> {
    return this.#open.listResults(ref, page)
  }

  async *chunks(result: Result, seek: ChunkSeek): AsyncGenerator<Chunk> {
    let range: ChunkRange = this.#open.findChunks(result, seek)
    while (range.first < range.end) {
      const next = Math.min(range.first + READ_CHUNKS, range.end)
      yield* this.#open.readChunks({ first: range.first, end: next })
      range = { first: next, end: range.end }
    }
  }

  async sweep(now: number): Promise<boolean> {
    const store = this.#open
    return this.#queue.run(() => store.sweep(now))
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#queue.drain()
    this.#store.close()
  }

  get #open(): Store {
    this.#requireOpen()
    return this.#store
  }

  #requireOpen(): void {
    if (this.#closed !== undefined) {
      throw new CoatcheckError('ledger_unavailable', 'The ledger is closed.')
    }
  }
}
