/**
 * The lock file beside a ledger, `<path>.lock`.
 *
 * It is held in an exclusive SQLite transaction as long as the process lives. The system releases
 * it however the process ends, and readers of the ledger itself are not blocked. The file is never
 * removed: between two starts, a removal would allow both to hold a lock. `one-process.ts` covers
 * the case that somebody else removed it.
 */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { makeOwn } from './modes.ts'

/** A lock that is held. */
export interface Lock {
  /** Identity of the lock file on this machine: device and inode. */
  readonly identity: string
  /**
   * Throws `ledger_unavailable` when the lock file was removed or replaced after the lock was
   * taken.
   */
  requireThere(): void
  release(): void
}

/**
 * Takes the lock of the ledger at `path`. Throws `ledger_unavailable` at once when another process
 * has it.
 */
export function takeLock(path: string): Lock {
  const lockPath = `${path}.lock`
  makeOwn(lockPath)
  const db = new Database(lockPath, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    throw refusal(error, path, lockPath)
  }
  const identity = identityOf(lockPath)
  return {
    identity,
    requireThere() {
      if (identityOf(lockPath) === identity) return
      const detail = `${lockPath} was removed while the ledger was being opened; start again, and leave the file there`
      throw new CoatcheckError('ledger_unavailable', detail)
    },
    release: () => void db.close(),
  }
}

/** Identity of a file; empty when it does not exist. */
function identityOf(path: string): string {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found === undefined ? '' : `${found.dev}:${found.ino}`
}

function refusal(error: unknown, path: string, lockPath: string): unknown {
  if (!(error instanceof Database.SqliteError)) return error
  if (error.code.startsWith('SQLITE_BUSY')) {
    const detail = `the ledger ${path} is in use by another process; stop that one, or choose another path`
    return new CoatcheckError('ledger_unavailable', detail, {}, { cause: error })
  }
  if (error.code.startsWith('SQLITE_NOTADB')) {
    const detail = `${lockPath} is not a lock file of a ledger; move it away, or choose another path`
    return new CoatcheckError('ledger_unavailable', detail, {}, { cause: error })
  }
  return error
}
