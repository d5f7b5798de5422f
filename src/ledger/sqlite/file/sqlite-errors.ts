/**
 * Maps failures of SQLite and of the file system to the errors of the contract. Their details are
 * for logs: these are 5xx problems, whose details are not sent to callers.
 */
import Database from 'better-sqlite3'
import { CoatcheckError, type ErrorCode } from '../../../core/errors.ts'
import { systemErrorWords } from '../../../system-error.ts'

/**
 * Meaning of a result code. `write_failed`: SQLite does not say why, so the disk is tested for
 * room, see `no-room.ts`.
 */
type Meaning = ErrorCode | 'write_failed'

/**
 * Meanings by result code. The first entry that a code starts with counts, so extended codes stand
 * before their primary one.
 *
 * `ledger_corrupt` is only for bytes that were read and are wrong. SQLite also reports
 * SQLITE_CORRUPT when the disk failed to read (EIO, ENXIO); `unreadable.ts` tells the two apart.
 */
const MEANINGS: readonly (readonly [prefix: string, meaning: Meaning])[] = [
  // ENOSPC on a write
  ['SQLITE_FULL', 'storage_full'],
  ['SQLITE_CORRUPT', 'ledger_corrupt'],
  ['SQLITE_NOTADB', 'ledger_corrupt'],
  // Another connection has the file.
  ['SQLITE_BUSY', 'ledger_unavailable'],
  ['SQLITE_LOCKED', 'ledger_unavailable'],
  ['SQLITE_PROTOCOL', 'ledger_unavailable'],
  // Missing rights, a read-only file system, or a file that was moved while it was open.
  ['SQLITE_READONLY', 'ledger_unavailable'],
  ['SQLITE_PERM', 'ledger_unavailable'],
  ['SQLITE_AUTH', 'ledger_unavailable'],
  // EDQUOT and EFBIG mean a lack of room; EROFS and EIO do not.
  ['SQLITE_IOERR_WRITE', 'write_failed'],
  // The index of the log could not grow.
  ['SQLITE_IOERR_SHMSIZE', 'write_failed'],
  ['SQLITE_IOERR_SHMMAP', 'write_failed'],
  // The log or its index could not be created. There may be no room for an entry in the folder.
  ['SQLITE_CANTOPEN', 'write_failed'],
  ['SQLITE_IOERR_SHMOPEN', 'write_failed'],
  // Reads, flushes, locks: a fault of the disk, which may pass. After a short read
  // (SQLITE_IOERR_SHORT_READ) and a read that the system refused (SQLITE_IOERR_READ,
  // SQLITE_IOERR_CORRUPTFS) there are no bytes that could be called corrupt.
  ['SQLITE_IOERR', 'ledger_unavailable'],
  ['SQLITE_NOMEM', 'ledger_unavailable'],
  ['SQLITE_NOLFS', 'ledger_unavailable'],
  // Codes of the system.
  ['ENOSPC', 'storage_full'],
  ['EDQUOT', 'storage_full'],
  ['EFBIG', 'storage_full'],
]

/** Whether a system call failed with this code because a file could not grow. */
export function isNoRoom(code: string): boolean {
  return MEANINGS.some(([prefix, meaning]) => prefix === code && meaning === 'storage_full')
}

/**
 * Error of the contract for a failure of SQLite or of the system. An error of the contract and an
 * error by a bug of ours are returned as they are. `hasNoRoom` tests whether the ledger's disk
 * takes no more bytes. It is called only when SQLite does not say why a write failed; without it
 * such a failure is `ledger_unavailable`.
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

/**
 * Whether an error of {@link ledgerError}, also from another thread, reports damage on the word of
 * SQLite alone.
 */
export function saysCorrupt(error: unknown): error is CoatcheckError {
  return (
    error instanceof CoatcheckError &&
    error.code === 'ledger_corrupt' &&
    /\(SQLITE_(?:CORRUPT|NOTADB)\w*\)$/.test(error.message)
  )
}

/**
 * Like {@link ledgerError}, for a ledger at `path` that cannot be opened. The detail says what the
 * operator can do.
 */
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

/** Tests of the disk of a ledger that is not open. */
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

/**
 * Whether an error comes from a system call. SQLite's codes without a meaning above are bugs of
 * ours.
 */
function isOutside(error: Error): boolean {
  return !(error instanceof Database.SqliteError) && 'syscall' in error
}
