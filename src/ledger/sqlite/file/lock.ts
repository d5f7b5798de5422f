/**
 * The lock file beside a ledger, `<path>.lock`. It is held in an exclusive SQLite transaction for as long as the process
 * lives: the system frees it however the process ends, and readers of the ledger itself are not kept out. It is never
 * removed: between two starts that would let both have one. `one-process.ts` covers a lock file that somebody else removed.
 */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { makeOwn } from './modes.ts'

export interface Lock {
  /** Which file it is, on this machine: its device and its inode. */
  readonly identity: string
  /** Throws `ledger_unavailable` when the lock file was removed or replaced since it was taken. */
  requireThere(): void
  release(): void
}

/** Takes the lock of the ledger at `path`. Throws `ledger_unavailable` at once when another process has it. */
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

/** Empty when there is no such file. */
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
