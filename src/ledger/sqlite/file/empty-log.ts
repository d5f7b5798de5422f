/** Copies a ledger's log into the ledger and empties it. */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { ledgerError } from './sqlite-errors.ts'

/**
 * Empties the log as far as no reader needs it, without waiting for readers. A disk without room leaves it as it is, whole: all
 * that was kept is read from there. Throws what else goes wrong. `hasNoRoom`: see `ledgerError`.
 */
export function emptyLogWhereRoom(db: Database.Database, hasNoRoom: () => boolean): void {
  const timeoutMs = db.pragma('busy_timeout', { simple: true })
  db.pragma('busy_timeout = 0')
  try {
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    if (!isFull(error, hasNoRoom)) throw error
  } finally {
    db.pragma(`busy_timeout = ${timeoutMs}`)
  }
}

/** True for an error that is, or stands for, a lack of room. */
export function isFull(error: unknown, hasNoRoom: () => boolean): boolean {
  const known = ledgerError(error, hasNoRoom)
  return known instanceof CoatcheckError && known.code === 'storage_full'
}
