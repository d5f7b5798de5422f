/**
 * What writes: synchronous calls on the one connection that changes the file. Every write is one transaction, and what it
 * throws has changed nothing. Arguments and answers are plain values, since the callers are in another thread.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../core/errors.ts'
import type { EndCounts, LedgerPolicy, Run, RunPatch, RunRef } from '../ledger.ts'
import { Eraser } from './eraser.ts'
import { ledgerError } from './errors.ts'
import { type LedgerFile, openFile } from './file.ts'
import type { Append, Appended, AppendOutcome } from './messages.ts'
import { ResultReader } from './result-reader.ts'
import { toResult } from './result-statements.ts'
import { Results } from './results.ts'
import { RunReader } from './run-reader.ts'
import type { RunRow } from './run-state.ts'
import { Runs } from './runs.ts'
import { type Touch, Touches } from './touches.ts'

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

export class Store {
  readonly #file: LedgerFile
  readonly #db: Database.Database
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
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
    this.#results = new Results(db, policy, new ResultReader(db))
    this.#eraser = new Eraser(db, {
      reader: this.#reader,
      runs: this.#runs,
      results: this.#results,
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
  append(appends: readonly Append[]): readonly AppendOutcome[] {
    return this.#write(() => appends.map((append) => this.#tryAppend(append)))
  }

  openRun(ref: RunRef, patch: RunPatch, now: number): { run: Run; created: boolean } {
    return this.#write(() => {
      const opened = this.#runs.open(ref, now)
      this.#runs.change(opened, patch)
      const row = this.#reader.findByKey(opened.row.key, now) as RunRow
      return { run: this.#reader.toRun(row) as Run, created: opened.created }
    })
  }

  endRun(ref: RunRef, { purge }: { readonly purge: boolean }, now: number): EndCounts {
    const counts = this.#write(() => {
      const row = this.#reader.find(ref, now)
      if (row === undefined) return { results: 0, keptBytes: 0 }
      if (purge) this.#eraser.purge(row)
      else this.#runs.end(row, now)
      return { results: row.results, keptBytes: row.kept_bytes }
    })
    if (purge) this.#scrubSoon()
    return counts
  }

  sweep(now: number): boolean {
    const more = this.#write(() => this.#eraser.sweep(now))
    this.#translated(() => this.#eraser.scrub())
    return more
  }

  /** Writes the touches that it has. */
  flush(): void {
    this.#write(() => undefined)
  }

  /** Frees the file whatever happens; throws when the touches could not be written. */
  close(): void {
    try {
      this.flush()
      this.#translated(() => this.#eraser.scrub())
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
    const { row: run } = this.#runs.open(ref, now)
    const same = this.#results.findSame(run, put)
    if (same !== undefined) return { result: toResult(same), retried: true }
    const { row, counts } = this.#results.keep({ run, now }, put)
    this.#runs.count(run, counts)
    return { result: toResult(row), retried: false }
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
