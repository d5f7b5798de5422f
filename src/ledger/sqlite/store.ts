/**
 * What writes: synchronous calls on the one connection that changes the file. Every write is one transaction, and what it
 * throws has changed nothing. Arguments and answers are plain values, since the callers are in another thread.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../core/errors.ts'
import type { Chunk, EndCounts, LedgerPolicy, Run, RunPatch, RunRef } from '../ledger.ts'
import { type ChunkKeys, ChunkWriter, chunksOf } from './chunks.ts'
import { Eraser, type Progress } from './eraser.ts'
import { ledgerError } from './errors.ts'
import { type LedgerFile, openFile } from './file.ts'
import type { Append, Appended, AppendOutcome, Finish } from './messages.ts'
import { ResultReader } from './result-reader.ts'
import { toResult } from './result-statements.ts'
import { Results, withoutValue } from './results.ts'
import { RunReader } from './run-reader.ts'
import type { RunRow } from './run-state.ts'
import { Runs } from './runs.ts'
import { type Touch, Touches } from './touches.ts'
import { unsynced } from './unsynced.ts'
import { bytesIn, Uploads } from './uploads.ts'

/** Opens or makes the ledger at `path`; see `file.ts` for what it throws. */
export function openStore(path: string, policy: LedgerPolicy): Store {
  const file = openFile(path)
  try {
    return new Store(file, policy)
  } catch (error) {
    file.close()
    throw ledgerError(error)
  }
}

/** Of a run that has yet to be opened. */
const NOTHING_KEPT = { results: 0, kept_bytes: 0 }

export class Store {
  readonly #file: LedgerFile
  readonly #db: Database.Database
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
  readonly #chunks: ChunkWriter
  readonly #uploads: Uploads
  readonly #eraser: Eraser
  /** Received, and written with the next transaction. */
  readonly #touches = new Touches()
  /** Of the schema; what a ping writes again. */
  readonly #version: number
  #hasFailed = false
  readonly #transaction: Database.Transaction<(work: () => unknown) => unknown>

  /** Takes the file over: it is closed with the store. */
  constructor(file: LedgerFile, policy: LedgerPolicy) {
    const { db } = file
    this.#file = file
    this.#db = db
    this.#reader = new RunReader(db, policy, this.#touches)
    this.#runs = new Runs(db, policy, this.#reader)
    this.#chunks = new ChunkWriter(db)
    const chunks = this.#chunks
    this.#results = new Results(db, policy, { reader: new ResultReader(db), chunks })
    this.#uploads = new Uploads(db, { chunks, results: this.#results })
    this.#eraser = new Eraser(db, {
      reader: this.#reader,
      runs: this.#runs,
      results: this.#results,
      uploads: this.#uploads,
    })
    this.#version = db.pragma('user_version', { simple: true }) as number
    this.#transaction = db.transaction((work: () => unknown) => work())
  }

  /** When the last write failed, tries a small one: reads alone would not tell that the disk is full. */
  ping(): void {
    this.#translated(() => {
      this.#file.requireThere()
      this.#reader.ping()
    })
    if (this.#hasFailed) this.#write(() => this.#db.pragma(`user_version = ${this.#version}`))
  }

  /** Takes touches along with what is written next. */
  touch(touches: readonly Touch[]): void {
    for (const [key, at] of touches) this.#touches.note(key, at)
  }

  get touchesWritten(): boolean {
    return this.#touches.size === 0
  }

  /** Keeps all in one transaction; a refusal is its put's alone. Throws when the transaction fails, which keeps none. */
  append(appends: readonly (Append | Finish)[]): readonly AppendOutcome[] {
    try {
      return this.#write(() => appends.map((append) => this.#tryAppend(append)))
    } finally {
      // finished or failed: nobody adds to them any more
      for (const append of appends) if ('upload' in append) this.#uploads.drop(append.upload)
    }
  }

  /** The key of an upload. Throws as an append would, as far as that is known. */
  openUpload(ref: RunRef, now: number): number {
    return this.#translated(() => {
      this.#file.requireThere()
      const run = this.#runs.requireOpenable(ref, now)
      if (run !== undefined) this.#results.requireRoom(run, this.#uploads.bytesOf(ref))
      return this.#uploads.open(ref)
    })
  }

  /** Keeps the next chunks of an upload, which is dropped when this throws. */
  stage(key: number, chunks: readonly Chunk[], now: number): void {
    try {
      const { ref } = this.#uploads.find(key)
      unsynced(this.#db, () =>
        this.#write(() => {
          const run = this.#runs.requireOpenable(ref, now)
          const bytes = this.#uploads.bytesOf(ref) + bytesIn(chunks)
          this.#results.requireRoom(run ?? NOTHING_KEPT, bytes)
          this.#uploads.add(key, chunks)
        }),
      )
      this.#uploads.added(key, chunks)
    } catch (error) {
      this.#uploads.drop(key)
      throw error
    }
  }

  /** What was added is to be erased. */
  dropUpload(key: number): undefined {
    this.#uploads.drop(key)
  }

  openRun(ref: RunRef, patch: RunPatch, now: number): { run: Run; created: boolean } {
    return this.#write(() => {
      const opened = this.#runs.open(ref, now)
      this.#runs.change(opened, patch)
      const row = this.#reader.findByKey(opened.row.key, now) as RunRow
      return { run: this.#reader.toRun(row) as Run, created: opened.created }
    })
  }

  /** A purge leaves rows to be erased, and nothing that can be read. */
  endRun(ref: RunRef, { purge }: { readonly purge: boolean }, now: number): EndCounts {
    const counts = this.#write(() => {
      const row = this.#reader.find(ref, now)
      if (row === undefined) return { results: 0, keptBytes: 0 }
      if (purge) this.#runs.purge(row)
      else this.#runs.end(row, now)
      return { results: row.results, keptBytes: row.kept_bytes }
    })
    if (purge) this.#uploads.dropAll(ref)
    return counts
  }

  /** True when there are more runs to look at. */
  sweep(now: number): boolean {
    return this.#write(() => this.#eraser.sweep(now))
  }

  /** Erases a piece of what is to be erased. */
  erase(): Progress {
    return this.#translated(() =>
      unsynced(this.#db, () => this.#eraser.step((work) => this.#write(work))),
    )
  }

  /** Leaves what a reader blocks for a later {@link erase}. */
  postponeScrub(): void {
    this.#eraser.postpone()
  }

  /** Writes the touches that it has. */
  flush(): void {
    this.#write(() => undefined)
  }

  /** Frees the file whatever happens; throws when the touches could not be written. */
  close(): void {
    try {
      this.flush()
    } finally {
      this.#file.close()
    }
  }

  #tryAppend(append: Append | Finish): AppendOutcome {
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

  #append(append: Append | Finish): Appended {
    const { ref, now } = append
    const put = 'upload' in append ? append.put : withoutValue(append.put)
    const { row: run } = this.#runs.open(ref, now)
    const same = this.#results.findSame(run, put)
    if (same !== undefined) return { result: toResult(same), retried: true }
    this.#results.requireRoom(run, put.totalBytes)
    const { row, counts } = this.#results.keep({ run, now }, put, this.#keepChunks(append))
    this.#runs.count(run, counts)
    return { result: toResult(row), retried: false }
  }

  #keepChunks(append: Append | Finish): ChunkKeys {
    if ('upload' in append) return this.#uploads.finish(append.upload)
    const { put } = append
    const chunks = put.plan.chunks.length
    const key = this.#results.reserve(chunks)
    const incompressible = put.kind === 'binary'
    this.#chunks.keep({ result: key, n: 0 }, chunksOf(put), { incompressible })
    return { key, chunks }
  }

  #translated<Answer>(work: () => Answer): Answer {
    try {
      return work()
    } catch (error) {
      throw ledgerError(error)
    }
  }

  #write<Answer>(work: () => Answer): Answer {
    try {
      this.#file.requireThere()
      const answer = this.#transaction.immediate(() => {
        const done = work()
        this.#runs.touch(this.#touches.noted())
        return done
      })
      this.#touches.clear()
      this.#hasFailed = false
      return answer as Answer
    } catch (error) {
      this.#hasFailed = !(error instanceof CoatcheckError)
      this.#results.forget()
      throw ledgerError(error)
    }
  }
}
