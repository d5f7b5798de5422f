/**
 * One process a ledger. A file beside it is held in an exclusive SQLite transaction for as long as the process lives: the
 * system frees it however the process ends, and readers of the ledger itself are not kept out.
 * The file is never removed: between two starts that would let both have one.
 */
import Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'

export interface Lock {
  release(): void
}

/** Takes the lock of the ledger at `path`, or throws `ledger_unavailable` at once when another process has it. */
export function takeLock(path: string): Lock {
  const lockPath = `${path}.lock`
  const db = new Database(lockPath, { timeout: 0 })
  try {
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db.close()
    throw refusal(error, path, lockPath)
  }
  return { release: () => void db.close() }
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
