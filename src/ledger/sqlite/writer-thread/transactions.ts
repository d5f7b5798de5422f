/**
 * Transactions of the writing connection. Every call of the store runs within one of the guards, so
 * that no disk error goes unnoticed. After some errors nothing more may be written; see
 * `guarded-file.ts`.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { GivenNumber } from '../file/commit-notes.ts'
import type { GuardedFile } from '../file/guarded-file.ts'
import { hasNoRoomAt } from '../file/no-room.ts'
import { ledgerError } from '../file/sqlite-errors.ts'
import { unsynced } from '../unsynced.ts'

interface Parts {
  /** Runs in each transaction, at its end. */
  readonly finish: () => void
  /** Called after each commit. */
  readonly committed: () => void
  /** Called after each failed transaction. */
  readonly failed: () => void
}

/** Makes transactions on one file. */
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

  /** True when the last transaction failed by an error other than a refusal. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** Runs `work`, which may call {@link write}. Throws errors of the contract. */
  guard<Answer>(work: () => Answer): Answer {
    try {
      this.#file.requireWritable()
      return work()
    } catch (error) {
      this.#file.failed(error)
      throw this.toLedgerError(error)
    }
  }

  /** Like {@link guard}, but the transactions of `work` do not wait for the disk. */
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

  /** Runs `work` as one transaction within {@link guard}. */
  guardWrite<Answer>(work: () => Answer): Answer {
    return this.guard(() => this.write(work))
  }

  /**
   * Runs `work` as one transaction. Must be called within a guard. `givenBy` returns the numbers
   * that the transaction gave to runs.
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

  /** Runs `work` as a savepoint within a transaction. */
  nest<Answer>(work: () => Answer): Answer {
    return this.#transaction(work) as Answer
  }

  /**
   * Copies a long log into the ledger. Throws nothing: a failure is reported as a notice, since no
   * caller waits for this.
   */
  checkpoint(): void {
    try {
      this.#file.checkpoint()
    } catch (error) {
      this.#hasFailed = true
      this.#file.failed(error)
    }
  }

  /** Turns an error into one of the contract. */
  toLedgerError(error: unknown): unknown {
    return ledgerError(error, () => hasNoRoomAt(this.#file.path))
  }
}
