/** Copies a ledger's log into the ledger and empties it. */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { ledgerError } from './sqlite-errors.ts'

/**
 * Copies the log as far as no reader needs it, and empties it when none does. Does not wait for
 * readers. On a full disk the log stays whole, and everything is read from it. Throws other errors.
 * `hasNoRoom`: see `ledgerError`. Returns whether the log is empty now:
 * the ledger then has all of it.
 */
export function emptyLogWhereRoom(db: Database.Database, hasNoRoom: () => boolean): boolean {
  const timeoutMs = db.pragma('busy_timeout', { simple: true })
  db.pragma('busy_timeout = 0')
  try {
    const [answer] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }]
    return answer.busy === 0
  } catch (error) {
    if (!isFull(error, hasNoRoom)) throw error
    return false
  } finally {
    db.pragma(`busy_timeout = ${timeoutMs}`)
  }
}

/** Whether an error means that the disk has no room. */
export function isFull(error: unknown, hasNoRoom: () => boolean): boolean {
  const known = ledgerError(error, hasNoRoom)
  return known instanceof CoatcheckError && known.code === 'storage_full'
}
