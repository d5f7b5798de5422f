/**
 * Writes the ledger: synchronous calls on the one connection that changes the file. Each write is
 * one transaction, and one that throws has changed nothing. Arguments and answers are plain values,
 * since the callers are in another thread.
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

/** Opens or creates the ledger at `path`. Throws the errors of `openFile` in `file/file.ts`. */
export function openStore(path: string, policy: LedgerPolicy, options: OpenOptions = {}): Store {
  const file = openFile(path, options)
  try {
    return new Store(file, policy)
  } catch (error) {
    file.close()
    throw openError(error, path)
  }
}

/** The writing side of a ledger file. */
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
  /** Requests that are noted and written with the next transaction. */
  readonly #touches = new Touches()
  /** Version of the schema. A ping writes it again. */
  readonly #version: number
  readonly #transactions: Transactions

  /** Takes over the file, which is closed with the store. */
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
      erased: () => file.erased(),
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

  /**
   * Checks that the file can be read. When the last write failed, also tries a small one, since a
   * read does not show a full disk.
   */
  ping(): void {
    this.#transactions.guard(() => {
      this.#reader.ping()
      this.#diskRoom.refill()
      this.#diskRoom.require(0)
      if (this.#transactions.hasFailed) this.#transactions.write(() => this.#writeSomething())
    })
  }

  /** Notes requests, which are written with the next transaction. */
  touch(touches: readonly Touch[]): void {
    for (const [key, at] of touches) this.#touches.note(key, at)
  }

  /** True when no noted request is left to write. */
  get touchesWritten(): boolean {
    return this.#touches.size === 0
  }

  /**
   * Stores all puts in one transaction. A refusal is the outcome of its put alone. When the
   * transaction fails, it throws and stores none.
   */
  append(appends: readonly (Append | Finish)[]): readonly AppendOutcome[] {
    try {
      return this.#transactions.guard(() => {
        this.#diskRoom.require(bytesOf(appends))
        return this.#appendAll(appends)
      })
    } finally {
      // Finished or failed: no more chunks come for these uploads.
      for (const append of appends) if ('upload' in append) this.#uploads.drop(append.upload)
    }
  }

  /**
   * Opens an upload and returns its key. Throws the refusals of a put that are known beforehand.
   */
  openUpload(asked: Asked, now: number): number {
    return this.#transactions.guard(() => this.#puts.openUpload(asked, now))
  }

  /** Notes that a call for an upload has arrived and waits its turn. */
  heard(upload: number): void {
    this.#uploads.heard(upload)
  }

  /** Writes the next chunks of an upload. The upload is dropped when this throws. */
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

  /** Abandons an upload. Its chunks are then to be erased. */
  dropUpload(key: number): undefined {
    this.#uploads.drop(key)
  }

  /** Opens or changes a run; see `Ledger.openRun`. */
  openRun(ref: RunRef, patch: RunPatch, now: number): { run: Run; created: boolean } {
    return this.#transactions.guardWrite(() => {
      const opened = this.#runs.open(ref, now)
      this.#runs.change(opened, patch)
      const row = this.#reader.findByKey(opened.row.key, now) as RunRow
      return { run: this.#reader.toRun(row) as Run, created: opened.created }
    })
  }

  /** Ends a run without a purge; see `Ledger.endRun`. */
  endRun(ref: RunRef, now: number): RunCounts {
    return this.#transactions.guardWrite(() => {
      const row = this.#reader.find(ref, now)
      if (row !== undefined) this.#runs.end(row, now)
      return countsOf(row)
    })
  }

  /**
   * Purges a run: it cannot be read any more, and its rows are to be erased. The purge is on disk
   * when {@link erase} has scrubbed.
   */
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

  /** Sweeps some runs. True when there are more to examine. */
  sweep(now: number): boolean {
    this.#diskRoom.refill()
    return this.#transactions.guardWrite(() => this.#eraser.sweep(now))
  }

  /** Erases one piece. */
  erase(): Progress {
    const step = (): Progress => {
      const progress = this.#eraser.step((work) => this.#transactions.write(work))
      this.#file.checkpointed()
      this.#diskRoom.emptyLogIfTight()
      return progress
    }
    return this.#diskRoom.withReserve(() => this.#transactions.guardUnsynced(step))
  }

  /** Leaves a blocked scrub for a later {@link erase}. Purges are flushed to disk. */
  postponeScrub(): void {
    this.#eraser.postpone()
    this.#transactions.guardWrite(() => this.#writeSomething())
  }

  /** Writes the noted requests. */
  flush(): void {
    this.#transactions.guardWrite(() => undefined)
  }

  /** Copies a long log into the ledger when it is due. Throws nothing. */
  checkpoint(): void {
    this.#transactions.checkpoint()
  }

  /**
   * Closes the file in any case. Throws when the noted requests could not be written, unless a
   * fault was already reported.
   */
  close(): void {
    try {
      if (!this.#file.hasFault) this.flush()
    } finally {
      this.#file.close()
      this.#scrubber.close()
    }
  }

  /**
   * Stores puts. A savepoint copies every page that is changed after it, so puts run in savepoints
   * only after a fault among them.
   */
  #appendAll(appends: readonly (Append | Finish)[]): readonly AppendOutcome[] {
    const given = (outcomes: readonly AppendOutcome[]) => numbersIn(appends, outcomes)
    try {
      return this.#transactions.write(() => this.#puts.keepAll(appends), given)
    } catch (error) {
      // A damaged row is the fault of the put that met it.
      if (error instanceof CoatcheckError && error.code !== 'ledger_corrupt') throw error
      const apart = (work: () => Appended) => this.#apart(work)
      return this.#transactions.write(() => this.#puts.keepAll(appends, apart), given)
    }
  }

  #apart(work: () => Appended): AppendOutcome {
    try {
      // Within a transaction, this is a savepoint.
      return this.#transactions.nest(work)
    } catch (error) {
      // Some failures end the whole transaction.
      if (!this.#db.inTransaction) throw error
      this.#results.forget()
      return { refusal: this.#transactions.toLedgerError(error) }
    }
  }

  /**
   * Writes the version of the schema again, since SQLite does not commit a transaction without
   * changes.
   */
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
