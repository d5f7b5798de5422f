/**
 * What SQLite and the file system report, as the errors of the contract. The detail is for logs: these are 5xx problems,
 * whose detail never leaves.
 */
import Database from 'better-sqlite3'
import { CoatcheckError, type ErrorCode } from '../../core/errors.ts'

/** By primary result code; extended ones (`SQLITE_IOERR_WRITE`) start with theirs. */
const CODES: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['SQLITE_FULL', 'storage_full'],
  ['SQLITE_CORRUPT', 'ledger_corrupt'],
  ['SQLITE_NOTADB', 'ledger_corrupt'],
  ['SQLITE_BUSY', 'ledger_unavailable'],
  ['SQLITE_LOCKED', 'ledger_unavailable'],
  ['SQLITE_READONLY', 'ledger_unavailable'],
  ['SQLITE_IOERR', 'ledger_unavailable'],
  ['SQLITE_CANTOPEN', 'ledger_unavailable'],
  ['SQLITE_PERM', 'ledger_unavailable'],
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
]

/** The contract's error for a failure below it. What is one already, or is a bug of ours, stays as it is. */
export function ledgerError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof CoatcheckError) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = CODES.find(([prefix]) => code.startsWith(prefix))?.[1]
  const fallback = isOutside(error) ? 'ledger_unavailable' : undefined
  const answer = known ?? fallback
  if (answer === undefined) return error
  return new CoatcheckError(answer, `${error.message} (${code})`, {}, { cause: error })
}

/** A system call's error, not one of the program; SQLite's own remaining codes are bugs of ours. */
function isOutside(error: Error): boolean {
  return !(error instanceof Database.SqliteError) && 'syscall' in error
}
