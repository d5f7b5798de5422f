/**
 * What writes: synchronous calls on the one connection that changes the file. Every write is one transaction, and what it
 * throws has changed nothing. Arguments and answers are plain values, since the callers are in another thread.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { Chunk, LedgerPolicy, Run, RunCounts, RunPatch, RunRef } from '../../ledger.ts'
import { type OpenOptions, openFile } from '../file/file.ts'
import type { GuardedFile } from '../file/guarded-file.ts'
import { openError } from '../file/sqlite-errors.ts'
import { type Touch, Touches } from '../protocol/last-requests.ts'
import type { Append, Appended, AppendOutcome, Finish } from '../protocol/messages.ts'
import { ChunkWriter } from '../rows/chunks.ts'
import { ResultReader } from '../rows/result-reader.ts'
import { RunReader } from '../rows/run-reader.ts'
import type { RunRow } from '../rows/run-state.ts'
import { DiskRoom } from './disk-room.ts'
import { Eraser, type Progress } from './erase-rows.ts'
import { numbersIn } from './given-numbers.ts'
import { Puts } from './puts.ts'
import { Results } from './results.ts'
import { Runs } from './runs.ts'
import { Scrubber } from './scrubber.ts'
import { Transactions } from './transactions.ts'
import { type Asked, bytesIn, Uploads } from './uploads.ts'

/** Opens or makes the ledger at `path`; see `file.ts` for what it throws. */
export function openStore(path: string, policy: LedgerPolicy, options: OpenOptions = {}): Store {
  const file = openFile(path, options)
  try {
    return new Store(file, policy)
  } catch (error) {
    file.close()
    throw openError(error, path)
  }
}

export class Store {
  readonly #file: GuardedFile
  readonly #db: Database.Database
  readonly #diskRoom: DiskRoom
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
  readonly #uploads: Uploads
  readonly #puts: Puts
  readonly #eraser: Eraser
  readonly #scrubber: Scrubber
  /** Received, and written with the next transaction. */
  readonly #touches = new Touches()
  /** Of the schema; what a ping writes again. */
  readonly #version: number
  readonly #transactions: Transactions

  /** Takes the file over: it is closed with the store. */
  constructor(file: GuardedFile, policy: LedgerPolicy) {
    const { db } = file
    const { maxEvictionsPerMinute } = policy
    this.#file = file
    this.#db = db
    this.#diskRoom = new DiskRoom(file)
    this.#reader = new RunReader(db, policy, this.#touches)
    this.#runs = new Runs(db, policy, this.#reader)
    const chunks = new ChunkWriter(db)
    this.#results = new Results(db, policy, { reader: new ResultReader(db), chunks })
    this.#uploads = new Uploads(db, { chunks, results: this.#results })
    const parts = { runs: this.#runs, results: this.#results, uploads: this.#uploads }
    this.#puts = new Puts({ ...parts, chunks })
    this.#scrubber = new Scrubber(db)
    this.#eraser = new Eraser(db, {
      ...parts,
      reader: this.#reader,
      scrubber: this.#scrubber,
      maxEvictionsPerMinute,
    })
    this.#version = db.pragma('user_version', { simple: true }) as number
    this.#transactions = new Transactions(file, {
      finish: () => this.#runs.touch(this.#touches.noted()),
      committed: () => {
        this.#scrubber.noteCommit()
        this.#touches.clear()
      },
      failed: () => this.#results.forget(),
    })
  }

  /** When the last write failed, tries a small one: reads alone would not tell that the disk is full. */
  ping(): void {
    this.#transactions.guard(() => {
      this.#reader.ping()
      this.#diskRoom.refill()
      this.#diskRoom.require(0)
      if (this.#transactions.hasFailed) this.#transactions.write(() => this.#writeSomething())
    })
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
      return this.#transactions.guard(() => {
        this.#diskRoom.require(bytesOf(appends))
        return this.#appendAll(appends)
      })
    } finally {
      // finished or failed: nobody adds to them any more
      for (const append of appends) if ('upload' in append) this.#uploads.drop(append.upload)
    }
  }

  /** The key of an upload. Throws as an append would, as far as that is known. */
  openUpload(asked: Asked, now: number): number {
    return this.#transactions.guard(() => this.#puts.openUpload(asked, now))
  }

  /** A call of an upload waits to be made. */
  heard(upload: number): void {
    this.#uploads.heard(upload)
  }

  /** Keeps the next chunks of an upload, which is dropped when this throws. */
  stage(key: number, chunks: readonly Chunk[], now: number): void {
    try {
      this.#transactions.guardUnsynced(() => {
        this.#diskRoom.require(bytesIn(chunks))
        this.#transactions.write(() => this.#puts.stage(key, chunks, now))
      })
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
    return this.#transactions.guardWrite(() => {
      const opened = this.#runs.open(ref, now)
      this.#runs.change(opened, patch)
      const row = this.#reader.findByKey(opened.row.key, now) as RunRow
      return { run: this.#reader.toRun(row) as Run, created: opened.created }
    })
  }

  endRun(ref: RunRef, now: number): RunCounts {
    return this.#transactions.guardWrite(() => {
      const row = this.#reader.find(ref, now)
      if (row !== undefined) this.#runs.end(row, now)
      return countsOf(row)
    })
  }

  /** Leaves rows to be erased, and nothing that can be read. Is on disk when {@link erase} has scrubbed. */
  purgeRun(ref: RunRef, now: number): RunCounts {
    const purge = (): RunCounts => {
      const row = this.#reader.find(ref, now)
      if (row !== undefined) this.#runs.purge(row)
      return countsOf(row)
    }
    const counts = this.#diskRoom.withReserve(() =>
      this.#transactions.guardUnsynced(() => this.#transactions.write(purge)),
    )
    this.#uploads.dropAll(ref)
    return counts
  }

  /** True when there are more runs to look at. */
  sweep(now: number): boolean {
    this.#diskRoom.refill()
    return this.#transactions.guardWrite(() => this.#eraser.sweep(now))
  }

  /** Erases a piece of what is to be erased. */
  erase(): Progress {
    const step = (): Progress => {
      const progress = this.#eraser.step((work) => this.#transactions.write(work))
      this.#file.checkpointed()
      this.#diskRoom.emptyLogIfTight()
      return progress
    }
    return this.#diskRoom.withReserve(() => this.#transactions.guardUnsynced(step))
  }

  /** Leaves what a reader blocks for a later {@link erase}; but what is purged is on disk as such. */
  postponeScrub(): void {
    this.#eraser.postpone()
    this.#transactions.guardWrite(() => this.#writeSomething())
  }

  /** Writes the touches that it has. */
  flush(): void {
    this.#transactions.guardWrite(() => undefined)
  }

  /** Copies a long log into the ledger, when it is due. Throws nothing. */
  checkpoint(): void {
    this.#transactions.checkpoint()
  }

  /** Frees the file whatever happens; throws when the touches could not be written, but not after a fault that was told. */
  close(): void {
    try {
      if (!this.#file.hasFault) this.flush()
    } finally {
      this.#file.close()
      this.#scrubber.close()
    }
  }

  /** A savepoint copies every page that is changed after it, so that puts get one only when a fault is among them. */
  #appendAll(appends: readonly (Append | Finish)[]): readonly AppendOutcome[] {
    const given = (outcomes: readonly AppendOutcome[]) => numbersIn(appends, outcomes)
    try {
      return this.#transactions.write(() => this.#puts.keepAll(appends), given)
    } catch (error) {
      // a row that is damaged is the fault of its own put
      if (error instanceof CoatcheckError && error.code !== 'ledger_corrupt') throw error
      const apart = (work: () => Appended) => this.#apart(work)
      return this.#transactions.write(() => this.#puts.keepAll(appends, apart), given)
    }
  }

  #apart(work: () => Appended): AppendOutcome {
    try {
      // within a transaction, this is a savepoint
      return this.#transactions.nest(work)
    } catch (error) {
      // some failures end the whole transaction
      if (!this.#db.inTransaction) throw error
      this.#results.forget()
      return { refusal: this.#transactions.toLedgerError(error) }
    }
  }

  /** A transaction that changes nothing is not committed. */
  #writeSomething(): void {
    this.#db.pragma(`user_version = ${this.#version}`)
  }
}

const bytesOf = (appends: readonly (Append | Finish)[]): number =>
  appends.reduce((sum, { put }) => sum + ('value' in put ? put.value.length : 0), 0)

const countsOf = (row: RunRow | undefined): RunCounts => ({
  results: row?.results ?? 0,
  keptBytes: row?.kept_bytes ?? 0,
})
