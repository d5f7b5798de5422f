/**
 * Maps failures of SQLite and of the file system to the errors of the contract. The details are for logs: these are 5xx
 * problems, whose detail is not sent to callers.
 */
import Database from 'better-sqlite3'
import { CoatcheckError, type ErrorCode } from '../../../core/errors.ts'
import { systemErrorWords } from '../../../system-error.ts'

/** `write_failed`: SQLite does not say why. The disk is asked whether it has room, see `no-room.ts`. */
type Meaning = ErrorCode | 'write_failed'

/**
 * By result code. The first entry that a code starts with counts, so that extended codes stand before their primary one.
 *
 * `ledger_corrupt` is only for bytes that were read and do not fit. SQLite also reports SQLITE_CORRUPT when the disk failed
 * to read (EIO, ENXIO): `unreadable.ts` tells the two apart.
 */
const MEANINGS: readonly (readonly [prefix: string, meaning: Meaning])[] = [
  // ENOSPC on a write
  ['SQLITE_FULL', 'storage_full'],
  ['SQLITE_CORRUPT', 'ledger_corrupt'],
  ['SQLITE_NOTADB', 'ledger_corrupt'],
  // another connection has the file
  ['SQLITE_BUSY', 'ledger_unavailable'],
  ['SQLITE_LOCKED', 'ledger_unavailable'],
  ['SQLITE_PROTOCOL', 'ledger_unavailable'],
  // rights, a read-only file system, a file that was moved while it was open
  ['SQLITE_READONLY', 'ledger_unavailable'],
  ['SQLITE_PERM', 'ledger_unavailable'],
  ['SQLITE_AUTH', 'ledger_unavailable'],
  // EDQUOT and EFBIG are a lack of room; EROFS and EIO are not
  ['SQLITE_IOERR_WRITE', 'write_failed'],
  // the log's index could not grow
  ['SQLITE_IOERR_SHMSIZE', 'write_failed'],
  ['SQLITE_IOERR_SHMMAP', 'write_failed'],
  // the log or its index could not be made: there may be no room for their entry in the folder
  ['SQLITE_CANTOPEN', 'write_failed'],
  ['SQLITE_IOERR_SHMOPEN', 'write_failed'],
  // Reads, flushes, locks: a fault of the disk, which may pass. A short read (SQLITE_IOERR_SHORT_READ) and a read that the
  // system refused (SQLITE_IOERR_READ, SQLITE_IOERR_CORRUPTFS) brought no bytes that could be called corrupt.
  ['SQLITE_IOERR', 'ledger_unavailable'],
  ['SQLITE_NOMEM', 'ledger_unavailable'],
  ['SQLITE_NOLFS', 'ledger_unavailable'],
  // of the system
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EFBIG', 'storage_full'],
]

/** True for the code of a system call that failed because a file could not grow. */
export function isNoRoom(code: string): boolean {
  return MEANINGS.some(([prefix, meaning]) => prefix === code && meaning === 'storage_full')
}

/**
 * The contract's error for a failure of SQLite or of the system. An error of the contract and a bug of ours are returned as
 * they are. `hasNoRoom` tells whether the ledger's disk takes no more bytes; it is called only where SQLite does not say why
 * a write failed. Absent: such a failure is `ledger_unavailable`.
 */
export function ledgerError(error: unknown, hasNoRoom: () => boolean = () => false): unknown {
  if (!(error instanceof Error) || error instanceof CoatcheckError) return error
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const known = MEANINGS.find(([prefix]) => code.startsWith(prefix))?.[1]
  const meaning = known ?? (isOutside(error) ? 'ledger_unavailable' : undefined)
  if (meaning === undefined) return error
  const writeFailed = (): ErrorCode => (hasNoRoom() ? 'storage_full' : 'ledger_unavailable')
  const answer = meaning === 'write_failed' ? writeFailed() : meaning
  const message = systemErrorWords(error) ?? `${error.message} (${code})`
  return new CoatcheckError(answer, message, {}, { cause: error })
}

/** True for the error of {@link ledgerError}, also from another thread, that rests on SQLite's word alone. */
export function saysCorrupt(error: unknown): error is CoatcheckError {
  return (
    error instanceof CoatcheckError &&
    error.code === 'ledger_corrupt' &&
    /\(SQLITE_(?:CORRUPT|NOTADB)\w*\)$/.test(error.message)
  )
}

/** The error of {@link ledgerError} for a ledger at `path` that cannot be opened, with what whoever set the path can do. */
export function openError(error: unknown, path: string, disk: Disk = {}): unknown {
  const known = judged(ledgerError(error, disk.hasNoRoom), disk)
  if (!(known instanceof CoatcheckError) || known === error) return known
  const { code, message, cause } = known
  return new CoatcheckError(
    code,
    `the ledger ${path} ${OPENING[code] ?? CANNOT_OPEN}: ${message}`,
    {},
    { cause },
  )
}

/** Questions to the disk of a ledger that is not open. */
export interface Disk {
  /** See {@link ledgerError}. */
  readonly hasNoRoom?: () => boolean
  /** False when the disk fails to read the ledger. */
  readonly isReadable?: () => boolean
}

function judged(error: unknown, { isReadable = () => true }: Disk): unknown {
  if (!saysCorrupt(error) || isReadable()) return error
  return new CoatcheckError('ledger_unavailable', error.message, {}, { cause: error.cause })
}

const CANNOT_OPEN = 'cannot be opened; choose a path where this user may make and write files'
const OPENING: Readonly<Partial<Record<ErrorCode, string>>> = {
  ledger_corrupt:
    'is damaged and was left as it is; restore it from a copy, or choose another path',
  storage_full: 'has no room on its disk; make some, or choose another path',
}

/** True for the error of a system call. SQLite's codes that have no meaning above are bugs of ours. */
function isOutside(error: Error): boolean {
  return !(error instanceof Database.SqliteError) && 'syscall' in error
}
