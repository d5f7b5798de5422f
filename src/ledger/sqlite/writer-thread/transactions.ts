/**
 * Transactions of the connection that writes. Each call of the store is made within one of these, so that no error of the disk
 * passes unseen: after some nothing more may be written, see `guarded-file.ts`.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { GivenNumber } from '../file/commit-notes.ts'
import type { GuardedFile } from '../file/guarded-file.ts'
import { hasNoRoomAt } from '../file/no-room.ts'
import { ledgerError } from '../file/sqlite-errors.ts'
import { unsynced } from '../unsynced.ts'

interface Parts {
  /** Within each transaction, at its end. */
  readonly finish: () => void
  readonly committed: () => void
  readonly failed: () => void
}

export class Transactions {
  readonly #file: GuardedFile
  readonly #parts: Parts
  readonly #transaction: Database.Transaction<(work: () => unknown) => unknown>
  #hasFailed = false
  #isSynced = true

  constructor(file: GuardedFile, parts: Parts) {
    this.#file = file
    this.#parts = parts
    this.#transaction = file.db.transaction((work: () => unknown) => work())
  }

  /** True when the last transaction failed, by no refusal. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Does `work`, which may make transactions by {@link write}. Throws errors of the contract. */
  guard<Answer>(work: () => Answer): Answer {
    try {
      this.#file.requireWritable()
      return work()
    } catch (error) {
      this.#file.failed(error)
      throw this.toLedgerError(error)
    }
  }

  /** Guards `work`, whose transactions do not wait for the disk. */
  guardUnsynced<Answer>(work: () => Answer): Answer {
    return this.guard(() => {
      this.#isSynced = false
      try {
        return unsynced(this.#file.db, work)
      } finally {
        this.#isSynced = true
      }
    })
  }

  /** Guards one transaction. */
  guardWrite<Answer>(work: () => Answer): Answer {
    return this.guard(() => this.write(work))
  }

  /**
   * Makes one transaction of `work`, which is all of it kept or nothing. Within one of the guards. `givenBy`: the numbers that
   * it gave to runs.
   */
  write<Answer>(
    work: () => Answer,
    givenBy: (answer: Answer) => readonly GivenNumber[] = () => [],
  ): Answer {
    try {
      const answer = this.#transaction.immediate(() => {
        const done = work()
        this.#parts.finish()
        return done
      })
      this.#file.committed(this.#isSynced ? givenBy(answer as Answer) : undefined)
      this.#parts.committed()
      this.#hasFailed = false
      return answer as Answer
    } catch (error) {
      this.#hasFailed = !(error instanceof CoatcheckError)
      this.#parts.failed()
      throw this.toLedgerError(error)
    }
  }

  /** Makes a savepoint of `work` within a transaction. */
  nest<Answer>(work: () => Answer): Answer {
    return this.#transaction(work) as Answer
  }

  /** Copies a long log into the ledger. A failure is told as a notice: nobody waits for this. */
  checkpoint(): void {
    try {
      this.#file.checkpoint()
    } catch (error) {
      this.#hasFailed = true
      this.#file.failed(error)
    }
  }

  toLedgerError(error: unknown): unknown {
    return ledgerError(error, () => hasNoRoomAt(this.#file.path))
  }
}
