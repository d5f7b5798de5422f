/**
 * An open ledger whose writing stops for good once it is not known that what was acknowledged is on disk.
 *
 * Beside the connection that writes, one that only reads is open, and closed after it. SQLite copies the log into the ledger
 * when the last connection that may write is closed, and only when it is alone with the file. So a log that is not trusted
 * stays as it is, however the process ends, for the next start to read.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { Tell } from '../../notice.ts'
import type { CommitNotes, GivenNumber } from './commit-notes.ts'
import type { HeldFiles } from './held-files.ts'
import type { Lock } from './lock.ts'
import type { LogState } from './log-index.ts'
import type { Room } from './room.ts'
import { writeFaultOf } from './write-faults.ts'

/** A log of so many pages is copied into the ledger: SQLite's own default. */
const CHECKPOINT_FRAMES = 1_000

export interface Parts {
  readonly path: string
  /** The connection that writes. */
  readonly db: Database.Database
  /** A connection that only reads, and has read. */
  readonly keeper: Database.Database
  readonly held: HeldFiles
  readonly notes: CommitNotes
  readonly lock: Lock
  readonly room: Room
  readonly tell: Tell
}

export class GuardedFile {
  readonly #parts: Parts
  #committed: LogState
  /** Why nothing is written any more. */
  #fault: CoatcheckError | undefined
  #isAway = false
  #hasNoNotes = false

  constructor(parts: Parts) {
    this.#parts = parts
    this.#committed = parts.held.logState
  }

  /** True when nothing is written any more. */
  get hasFault(): boolean {
    return this.#fault !== undefined
  }

  /** Absolute, without links. */
  get path(): string {
    return this.#parts.path
  }

  get room(): Room {
    return this.#parts.room
  }

  get db(): Database.Database {
    return this.#parts.db
  }

  /**
   * Before a write. Throws `ledger_unavailable` for good after a fault, and for as long as the ledger's path names another file
   * than the one that is open: what is written to that would be lost.
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
   * After a commit, before anybody is told of it. Throws `ledger_unavailable` when its log is not the one that was opened.
   * `given`: the last numbers that it gave to runs; undefined for a commit that is not on disk yet.
   */
  committed(given: readonly GivenNumber[] | undefined): void {
    const { held } = this.#parts
    this.#committed = held.logState
    const damage = held.damage(this.#committed)
    if (damage !== undefined) throw this.#stop(damage)
    if (held.isLogOverwritten(this.#committed)) throw this.#stop('its log was overwritten')
    if (given !== undefined) this.#note((notes) => notes.committed(this.#committed, given))
  }

  /** After an error of {@link db}, outside any transaction: stops all writing where it may have taken what was written. */
  failed(error: unknown): void {
    const fault = this.#fault === undefined ? writeFaultOf(error) : undefined
    if (fault === undefined) return
    if (fault === 'lost') this.#stop('a flush failed', error)
    else this.#requireFlushed(error)
  }

  /** Copies a long log into the ledger, as far as no reader needs it. SQLite would do so as well, and tell no failure. */
  checkpoint(): void {
    if (this.#fault !== undefined || this.#committed.frames < CHECKPOINT_FRAMES) return
    this.#copyLog()
  }

  /** After checkpoints and transactions that were not made here. */
  checkpointed(): void {
    const before = this.#committed.frames
    this.#parts.held.checkpointed()
    this.#committed = this.#parts.held.logState
    if (before > 0 && this.#committed.frames === 0) this.#noteCopied()
  }

  /** Closes the file and frees its lock. The log is copied into the ledger and removed, unless it is not trusted. */
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

  /** Does what closing would do, which tells no failure. A log that could not be copied stays for the next start. */
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

  /** A commit does not fail for want of its note. */
  #note(work: (notes: CommitNotes) => void): void {
    try {
      work(this.#parts.notes)
      this.#hasNoNotes = false
    } catch (err) {
      if (this.#hasNoNotes) return
      this.#hasNoNotes = true
      const message = `commits to the ledger ${this.#parts.path} cannot be noted beside it: a log that loses its end would not be noticed at the next start`
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

  /** Returns what every later write is refused with. */
  #stop(what: string, cause?: unknown): CoatcheckError {
    const { path, db, tell } = this.#parts
    const why = cause instanceof Error ? `${what} (${cause.message})` : what
    const rest =
      'Nothing is written to it any more until the service is started again; reads go on.'
    const message = `the ledger ${path} cannot be trusted with more: ${why}. ${rest}`
    this.#fault = new CoatcheckError('ledger_unavailable', message, {}, { cause })
    db.close()
    tell({ level: 'fatal', message, facts: { err: cause, ...this.#rescue() } })
    return this.#fault
  }

  #rescue(): Readonly<Record<string, unknown>> {
    try {
      return this.#parts.held.rescueLog() ? { log: 'put back, with all that was acknowledged' } : {}
    } catch (error) {
      return { log: this.#parts.held.openLog, rescueFailed: String(error) }
    }
  }
}
