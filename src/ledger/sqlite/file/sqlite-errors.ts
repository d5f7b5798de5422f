/**
 * What SQLite and the file system report, as the errors of the contract. The detail is for logs: these are 5xx problems,
 * whose detail never leaves.
 */
import Database from 'better-sqlite3'
import { CoatcheckError, type ErrorCode } from '../../../core/errors.ts'

/** By primary result code; extended ones (`SQLITE_IOERR_WRITE`) start with theirs. */
const CODES: readonly (readonly [prefix: string, code: ErrorCode])[] = [
  ['SQLITE_FULL', 'storage_full'],
  ['SQLITE_CORRUPT', 'ledger_corrupt'],
  ['SQLITE_NOTADB', 'ledger_corrupt'],
  ['SQLITE_BUSY', 'ledger_unavailable'],
  ['SQLITE_LOCKED', 'ledger_unavailable'],
  ['SQLITE_READONLY', 'ledger_unavailable'],
  // SQLite's FULL is ENOSPC alone: past a quota or the largest size of a file, a write just fails.
  ['SQLITE_IOERR_WRITE', 'storage_full'],
  ['SQLITE_IOERR', 'ledger_unavailable'],
  ['SQLITE_CANTOPEN', 'ledger_unavailable'],
  ['SQLITE_PERM', 'ledger_unavailable'],
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EFBIG', 'storage_full'],
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

/** The same where the ledger at `path` is opened, for whoever set the path. */
export function openError(error: unknown, path: string): unknown {
  const known = ledgerError(error)
  if (!(known instanceof CoatcheckError) || known === error) return known
  const { code, message, cause } = known
  return new CoatcheckError(
    code,
    `the ledger ${path} ${OPENING[code] ?? CANNOT_OPEN}: ${message}`,
    {},
    { cause },
  )
}

const CANNOT_OPEN = 'cannot be opened; choose a path where this user may make and write files'
const OPENING: Readonly<Partial<Record<ErrorCode, string>>> = {
  ledger_corrupt:
    'is damaged and was left as it is; restore it from a copy, or choose another path',
  storage_full: 'has no room on its disk; make some, or choose another path',
}

/** A system call's error, not one of the program; SQLite's own remaining codes are bugs of ours. */
function isOutside(error: Error): boolean {
  return !(error instanceof Database.SqliteError) && 'syscall' in error
}
