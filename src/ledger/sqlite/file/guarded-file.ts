/**
 * An open ledger. All writing stops for good as soon as it is uncertain that acknowledged writes
 * are on disk.
 *
 * Beside the writing connection there is a reading one, which is closed after it. SQLite copies the
 * log into the ledger when the last connection that may write is closed, and only when no other
 * connection is open. So a log that is not trusted stays as it is, however the process ends, and
 * the next start reads it.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { Tell } from '../../notice.ts'
import type { CommitNotes, GivenNumber } from './commit-notes.ts'
import type { HeldFiles } from './held-files.ts'
import type { Lock } from './lock.ts'
import { removeOldLogs } from './log-copies.ts'
import type { LogState } from './log-index.ts'
import type { Room } from './room.ts'
import { writeFaultOf } from './write-faults.ts'

/** Frames of a log from which it is copied into the ledger: SQLite's own default. */
const CHECKPOINT_FRAMES = 1_000

/** Parts of an open ledger. */
export interface Parts {
  readonly path: string
  /** The writing connection. */
  readonly db: Database.Database
  /** A read-only connection that has read something. */
  readonly keeper: Database.Database
  readonly held: HeldFiles
  readonly notes: CommitNotes
  readonly lock: Lock
  readonly room: Room
  readonly tell: Tell
}

/** An open ledger with its connections, lock and notes. */
export class GuardedFile {
  readonly #parts: Parts
  #committed: LogState
  /** Error for all writes after a fault. */
  #fault: CoatcheckError | undefined
  #isAway = false
  #hasNoNotes = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#committed = parts.held.logState
  }

  /** True after a fault, when nothing is written any more. */
  get hasFault(): boolean {
    return this.#fault !== undefined
  }

  /** Absolute path without symbolic links. */
  get path(): string {
    return this.#parts.path
  }

  /** Room on the ledger's disk. */
  get room(): Room {
    return this.#parts.room
  }

  /** The writing connection. */
  get db(): Database.Database {
    return this.#parts.db
  }

  /**
   * Must be called before a write. Throws `ledger_unavailable` for ever after a fault. Also throws
   * it as long as the ledger's path names another file than the open one, since writes to the open
   * one would be lost.
   */
  requireWritable(): void {
    if (this.#fault !== undefined) throw this.#fault
    const { path, held } = this.#parts
    if (held.isLedgerAway) {
      const detail = `the ledger ${path} was removed or replaced while it was open; put it back`
      this.#tellAway(detail)
      throw new CoatcheckError('ledger_unavailable', detail)
    }
    this.#isAway = false
    const damage = held.damage(this.#committed)
    if (damage !== undefined) throw this.#stop(damage)
  }

  /**
   * Must be called after a commit and before a caller is told of it. Throws `ledger_unavailable`
   * when the log is no longer the one that was opened. `given` holds the last numbers that the
   * commit gave to runs; undefined for a commit that is not on disk yet.
   */
  committed(given: readonly GivenNumber[] | undefined): void {
    const { held } = this.#parts
    this.#committed = held.logState
    const damage = held.damage(this.#committed)
    if (damage !== undefined) throw this.#stop(damage)
    if (held.isLogOverwritten(this.#committed)) throw this.#stop('its log was overwritten')
    if (given !== undefined) this.#note((notes) => notes.committed(this.#committed, given))
  }

  /**
   * Must be called after an error of {@link db}, outside transactions. Stops all writing when the
   * error may have lost earlier writes.
   */
  failed(error: unknown): void {
    const fault = this.#fault === undefined ? writeFaultOf(error) : undefined
    if (fault === undefined) return
    if (fault === 'lost') this.#stop('a flush failed', error)
    else this.#requireFlushed(error)
  }

  /**
   * Copies a long log into the ledger, as far as no reader needs it. SQLite's automatic checkpoints
   * would do that too, but report no failure.
   */
  checkpoint(): void {
    if (this.#fault !== undefined || this.#committed.frames < CHECKPOINT_FRAMES) return
    this.#copyLog()
  }

  /**
   * Must be called when the log was emptied after erasing, before anything else is written. Removes
   * from the files beside the ledger what was erased. Throws when it may still be in one.
   */
  erased(): void {
    const { path, held, notes } = this.#parts
    held.checkpointed()
    this.#committed = held.logState
    notes.copied(this.#committed)
    removeOldLogs(`${path}-wal`)
  }

  /** Must be called after checkpoints and transactions that were not made by this class. */
  checkpointed(): void {
    const before = this.#committed.frames
    this.#parts.held.checkpointed()
    this.#committed = this.#parts.held.logState
    if (before > 0 && this.#committed.frames === 0) this.#noteCopied()
  }

  /**
   * Closes the file and releases its lock. The log is copied into the ledger and removed, unless it
   * is not trusted.
   */
  close(): void {
    const { db, keeper, held, notes, lock } = this.#parts
    try {
      this.#emptyLog()
      keeper.close()
      db.close()
    } finally {
      held.close()
      notes.close()
      lock.release()
    }
  }

  /**
   * Copies the log as closing would, but notices failures. A log that could not be copied stays for
   * the next start.
   */
  #emptyLog(): void {
    if (this.#fault !== undefined) return
    const damage = this.#parts.held.damage(this.#committed)
    try {
      if (damage === undefined) this.#copyLog()
      else this.#stop(damage)
    } catch (error) {
      this.failed(error)
    }
  }

  #copyLog(): void {
    const answer = this.#parts.db.pragma('wal_checkpoint(PASSIVE)')
    const [{ log, checkpointed }] = answer as [{ log: number; checkpointed: number }]
    this.checkpointed()
    if (log === checkpointed) this.#noteCopied()
  }

  #noteCopied(): void {
    this.#note((notes) => notes.copied(this.#committed))
  }

  /**
   * Writes a note. A commit does not fail when its note cannot be written; a notice is sent once.
   */
  #note(work: (notes: CommitNotes) => void): void {
    try {
      work(this.#parts.notes)
      this.#hasNoNotes = false
    } catch (err) {
      if (this.#hasNoNotes) return
      this.#hasNoNotes = true
      const message = `the notes of commits beside the ledger ${this.#parts.path} cannot be written: the next start will not notice when the log has lost its end`
      this.#parts.tell({ level: 'warn', message, facts: { err } })
    }
  }

  #tellAway(message: string): void {
    if (this.#isAway) return
    this.#isAway = true
    const { held, tell } = this.#parts
    tell({ level: 'error', message, facts: { bytes: held.openLedger } })
  }

  #requireFlushed(error: unknown): void {
    try {
      this.#parts.held.flush()
    } catch {
      this.#stop('a flush failed after another failure of the disk', error)
    }
  }

  /** Stops all writing. Returns the error that refuses every later write. */
  #stop(what: string, cause?: unknown): CoatcheckError {
    const { path, db, tell } = this.#parts
    const why = cause instanceof Error ? `${what} (${cause.message})` : what
    const rest = 'Nothing is written to it any more until the service is restarted; reads go on.'
    const message = `the ledger ${path} may have lost acknowledged writes: ${why}. ${rest}`
    this.#fault = new CoatcheckError('ledger_unavailable', message, {}, { cause })
    db.close()
    tell({ level: 'fatal', message, facts: { err: cause, ...this.#rescue() } })
    return this.#fault
  }

  #rescue(): Readonly<Record<string, unknown>> {
    try {
      return this.#parts.held.rescueLog()
        ? { log: 'put back, with everything that was acknowledged' }
        : {}
    } catch (error) {
      return { log: this.#parts.held.openLog, rescueFailed: String(error) }
    }
  }
}
