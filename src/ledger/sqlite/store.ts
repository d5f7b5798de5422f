/**
 * The ledger as synchronous calls on one connection: every write is one transaction, and what it throws has changed
 * nothing. Arguments and answers are plain values, so that this can run in another thread than its callers.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../core/errors.ts'
import { handleNumber, handleOf } from '../../core/names.ts'
import type {
  Chunk,
  ChunkSeek,
  EndCounts,
  LedgerPolicy,
  Page,
  PageQuery,
  Result,
  ResultQuery,
  Run,
  RunPatch,
  RunRef,
} from '../ledger.ts'
import { Eraser } from './eraser.ts'
import { ledgerError } from './errors.ts'
import type { LedgerFile } from './file.ts'
import { pageOf } from './page.ts'
import type { Append, Appended, AppendOutcome } from './queue.ts'
import { toResult } from './result-statements.ts'
import { Results } from './results.ts'
import { isReadable, type RunRow } from './run-state.ts'
import { Runs } from './runs.ts'

/** The chunks of a value from the one sought, as keys to read; half-open. */
export interface ChunkRange {
  readonly first: number
  readonly end: number
}

export class Store {
  readonly #file: LedgerFile
  readonly #db: Database.Database
  readonly #runs: Runs
  readonly #results: Results
  readonly #eraser: Eraser
  readonly #transaction: Database.Transaction<(work: () => unknown) => unknown>
  /** The last time that a caller told, for the reads that are told none. */
  #now = 0

  constructor(file: LedgerFile, policy: LedgerPolicy) {
    this.#file = file
    this.#db = file.db
    this.#runs = new Runs(file.db, policy)
    this.#results = new Results(file.db, policy)
    this.#eraser = new Eraser(file.db, { runs: this.#runs, results: this.#results })
    this.#transaction = file.db.transaction((work: () => unknown) => work())
  }

  ping(): void {
    this.#read(() => this.#db.prepare('SELECT count(*) FROM (SELECT 1 FROM runs LIMIT 1)').get())
  }

  /** Keeps all in one transaction; a refusal is its put's alone. Throws when the transaction fails, which keeps none. */
  append(appends: readonly Append[]): readonly AppendOutcome[] {
    return this.#write(() => appends.map((append) => this.#tryAppend(append)))
  }

  openRun(ref: RunRef, patch: RunPatch, now: number): { run: Run; created: boolean } {
    this.#now = now
    return this.#write(() => {
      const opened = this.#runs.open(ref, now)
      this.#runs.change(opened, patch)
      const row = this.#runs.findByKey(opened.row.key, now) as RunRow
      return { run: this.#runs.toRun(row) as Run, created: opened.created }
    })
  }

  findRun(ref: RunRef, now: number): Run | undefined {
    this.#now = now
    return this.#read(() => {
      const row = this.#runs.find(ref, now)
      return row && this.#runs.toRun(row)
    })
  }

  listRuns(tenant: string, { limit, after = '' }: PageQuery, now: number): Page<Run> {
    this.#now = now
    return this.#read(() => {
      const rows = this.#runs.list(tenant, { after, limit: limit + 1 }, now)
      const runs = rows.map((row) => this.#runs.toRun(row) as Run)
      return pageOf(runs, limit, ({ id }) => id)
    })
  }

  endRun(ref: RunRef, { purge }: { readonly purge: boolean }, now: number): EndCounts {
    this.#now = now
    const counts = this.#write(() => {
      const row = this.#runs.find(ref, now)
      if (row === undefined) return { results: 0, keptBytes: 0 }
      if (purge) this.#eraser.purge(row)
      else this.#runs.end(row, now)
      return { results: row.results, keptBytes: row.kept_bytes }
    })
    if (purge) this.#scrubSoon()
    return counts
  }

  findTool(ref: RunRef, name: string): Buffer | undefined {
    return this.#read(() => {
      const row = this.#runs.find(ref, this.#now)
      return row && this.#runs.tool(row, name)
    })
  }

  touch(ref: RunRef, now: number): void {
    this.#now = now
    const isFull = this.#read(() => {
      const row = this.#runs.find(ref, now)
      return row !== undefined && this.#runs.touch(row, now)
    })
    if (isFull) this.flush()
  }

  findResult(ref: RunRef, query: ResultQuery): Result | undefined {
    return this.#read(() => {
      const run = this.#readable(ref)
      const row = run && this.#results.find(run.key, query)
      return row && toResult(row)
    })
  }

  /** Throws `invalid_request` for an `after` that no page has as its `next`. */
  listResults(
    ref: RunRef,
    query: PageQuery & { readonly toolUseId?: string | undefined },
  ): Page<Result> {
    const { limit, toolUseId } = query
    const after = query.after === undefined ? 0 : handleNumber(query.after)
    if (after === undefined) {
      throw new CoatcheckError('invalid_request', '"after" is not the "next" of a page of results.')
    }
    return this.#read(() => {
      const run = this.#readable(ref)
      if (run === undefined) return { items: [], next: null }
      const rows = this.#results.list(run.key, { after, limit: limit + 1, toolUseId })
      return pageOf(rows.map(toResult), limit, ({ number }) => handleOf(number))
    })
  }

  /** Throws `evicted` when the value is not there any more. */
  findChunks({ key }: Result, seek: ChunkSeek): ChunkRange {
    return this.#read(() => {
      const row = this.#results.byKey(key)
      const run = row && this.#runs.findByKey(row.run, this.#now)
      if (row === undefined || run === undefined || !isReadable(run)) throw erased()
      return { first: key + this.#results.chunks.seek(key, seek), end: key + row.chunks }
    })
  }

  /** All of the range, or `evicted`: never a part without saying so. */
  readChunks({ first, end }: ChunkRange): readonly Chunk[] {
    const chunks = this.#read(() => this.#results.chunks.read(first, end))
    if (chunks.length < end - first) throw erased()
    return chunks
  }

  sweep(now: number): boolean {
    this.#now = now
    const more = this.#write(() => this.#eraser.sweep(now))
    this.#read(() => this.#eraser.scrub())
    return more
  }

  /** Writes what is noted in memory. */
  flush(): void {
    this.#write(() => undefined)
  }

  /** Frees the file whatever happens; throws when what was noted could not be written. */
  close(): void {
    try {
      this.flush()
      this.#read(() => this.#eraser.scrub())
    } finally {
      this.#file.close()
    }
  }

  /** The rows are erased already, whatever becomes of this; a sweep tries again. */
  #scrubSoon(): void {
    try {
      this.#eraser.scrub()
    } catch {}
  }

  #tryAppend(append: Append): AppendOutcome {
    try {
      // within a transaction, this is a savepoint
      return this.#transaction(() => this.#append(append)) as Appended
    } catch (error) {
      // some failures end the whole transaction
      if (!this.#db.inTransaction) throw error
      this.#results.forget()
      return { refusal: ledgerError(error) }
    }
  }

  #append({ ref, put, now }: Append): Appended {
    this.#now = now
    const { row: run } = this.#runs.open(ref, now)
    const same = this.#results.findSame(run, put)
    if (same !== undefined) return { result: toResult(same), retried: true }
    const { row, counts } = this.#results.keep({ run, now }, put)
    this.#runs.count(run, counts)
    return { result: toResult(row), retried: false }
  }

  #readable(ref: RunRef): RunRow | undefined {
    const row = this.#runs.find(ref, this.#now)
    return row !== undefined && isReadable(row) ? row : undefined
  }

  #read<Answer>(query: () => Answer): Answer {
    try {
      return query()
    } catch (error) {
      throw ledgerError(error)
    }
  }

  #write<Answer>(work: () => Answer): Answer {
    try {
      const answer = this.#transaction.immediate(() => {
        const done = work()
        this.#runs.writeTouches()
        return done
      })
      this.#runs.forgetTouches()
      return answer as Answer
    } catch (error) {
      this.#results.forget()
      throw ledgerError(error)
    }
  }
}

const erased = (): CoatcheckError =>
  new CoatcheckError('evicted', 'The value was erased: its run was evicted or purged.')
