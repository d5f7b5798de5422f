/**
 * Opens the ledger's file. A new file gets the properties that cannot be changed later. A ledger is
 * recognized by its application id; any other file is refused and not touched. The file is used
 * only when every pragma that a promise depends on has its value.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import type { Tell } from '../../notice.ts'
import { CommitNotes, ledgerId, readNotes } from './commit-notes.ts'
import { emptyLogWhereRoom, isFull } from './empty-log.ts'
import { GuardedFile, type Parts } from './guarded-file.ts'
import { HeldFiles } from './held-files.ts'
import { realPath, requireFile, requireWritable } from './ledger-path.ts'
import { type Lock, takeLock } from './lock.ts'
import { removeOldLogs, rewriteLog, syncFolder } from './log-copies.ts'
import { foundLog, saltsOfLog, settleLostCommits } from './lost-commits.ts'
import { migrate } from './migrate.ts'
import { makeOwn } from './modes.ts'
import { hasNoRoomAt } from './no-room.ts'
import { recordLock, requireOneName, requireOneProcess } from './one-process.ts'
import { Room } from './room.ts'
import { openError } from './sqlite-errors.ts'
import { isReadableClosed } from './unreadable.ts'

/** `Coat` in ASCII, at a fixed offset in the file's header. */
const APPLICATION_ID = 0x436f6174
const APPLICATION_ID_OFFSET = 68
const HEADER_BYTES = 100
const MAGIC = 'SQLite format 3\0'

/** Milliseconds that a statement waits for a tool that has locked the file. */
const BUSY_TIMEOUT_MS = 1_000
/** Bytes that the log may keep on disk after a checkpoint. */
const LOG_LIMIT_BYTES = 67_108_864

/**
 * KiB of the file that a connection caches. The system caches the file too, and a page from there
 * costs little more.
 */
const CACHE_KIB = 4_096

/**
 * Pragmas of a new file, in this order: each must be set before the next one writes the first page.
 */
const CREATED_WITH = [
  ['page_size', 16_384],
  ['auto_vacuum', 2],
  ['application_id', APPLICATION_ID],
] as const

/**
 * Pragmas of the writing connection. `synchronous` is 2 (FULL): better-sqlite3 opens an existing
 * WAL file with a lower value, with which acknowledged puts are lost when the machine stops.
 */
const OPENED_WITH = [
  ['synchronous', 2],
  ['secure_delete', 1],
  ['foreign_keys', 1],
  ['busy_timeout', BUSY_TIMEOUT_MS],
  ['journal_size_limit', LOG_LIMIT_BYTES],
  // SQLite does not report when one of its automatic checkpoints fails.
  ['wal_autocheckpoint', 0],
  ['cache_size', -CACHE_KIB],
] as const

/**
 * Cache of the reading connection, in KiB (negative by SQLite's rule). The system caches the file
 * as well.
 */
const READ_CACHE = -4_096

/** Pragmas of a reading connection. */
const READ_WITH = [
  ['query_only', 1],
  ['cache_size', READ_CACHE],
  ['busy_timeout', BUSY_TIMEOUT_MS],
  ['cache_size', -CACHE_KIB],
] as const

const [[, PAGE_BYTES]] = CREATED_WITH

/** Options for opening a ledger's file. */
export interface OpenOptions {
  /** Bytes of the reserve, see `room.ts`; 0 for none. */
  readonly reserveBytes?: number | undefined
  /** Receives notices to the operator. */
  readonly tell?: Tell | undefined
}

/**
 * Opens or creates the ledger at `path`, with the folders above it. Throws `ledger_unavailable` (in
 * use, of a later version, or cannot be opened), `ledger_corrupt` (not a ledger, or damaged) or
 * `storage_full`.
 */
export function openFile(
  path: string,
  { reserveBytes = 0, tell = () => undefined }: OpenOptions = {},
): GuardedFile {
  try {
    const real = realPath(path)
    requireWritable(dirname(real), "the ledger's folder")
    const isThere = existsSync(real)
    if (isThere) {
      requireFile(real)
      requireWritable(real, 'the ledger')
      requireOneName(real)
      // No lock file is left beside a file that is no ledger. When there is a lock file, only its
      // holder may open and close the ledger.
      if (!existsSync(`${real}.lock`)) isFresh(real)
    }
    const lock = takeLock(real)
    try {
      const room = new Room(real, reserveBytes)
      const file = withReserve(real, room, () => {
        if (isThere && !isFresh(real)) requireOneProcess(real, lock)
        rewriteLog(`${real}-wal`)
        return guarded(open(real, lock, tell), { path: real, lock, room, tell })
      })
      room.refill()
      return file
    } catch (error) {
      lock.release()
      throw error
    }
  } catch (error) {
    const disk = {
      hasNoRoom: () => hasNoRoomAt(path),
      isReadable: () => isReadableClosed(path),
    }
    throw openError(error, path, disk)
  }
}

/**
 * Opens a read-only connection to the ledger at `path`, in any thread, while `openFile` has it
 * open. Throws the errors of {@link openFile}.
 */
export function openToRead(path: string): Database.Database {
  try {
    const db = new Database(path, { readonly: true, fileMustExist: true })
    try {
      for (const [name, value] of READ_WITH) db.pragma(`${name} = ${value}`)
      assertPragmas(db, path, READ_WITH)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    throw openError(error, path)
  }
}

/** Runs `work`. When the disk has no room, the reserve is given up and `work` runs again. */
function withReserve<Answer>(path: string, room: Room, work: () => Answer): Answer {
  try {
    return work()
  } catch (error) {
    if (!isFull(error, () => hasNoRoomAt(path)) || !room.release()) throw error
    return work()
  }
}

function open(path: string, lock: Lock, tell: Tell): Database.Database {
  const fresh = isFresh(path)
  const noted = fresh ? undefined : readNotes(path)
  const salts = saltsOfLog(path)
  makeOwn(path)
  const db = new Database(path)
  try {
    if (fresh) for (const [name, value] of CREATED_WITH) db.pragma(`${name} = ${value}`)
    db.pragma('journal_mode = WAL')
    for (const [name, value] of OPENED_WITH) db.pragma(`${name} = ${value}`)
    assertPragmas(db, path, OPENED_WITH)
    const log = noted && foundLog(db, salts)
    migrate(db, path)
    if (log !== undefined && noted?.ledger === ledgerId(db)) {
      settleLostCommits(db, noted, { log, tell })
    }
    recordLock(db, lock)
    // Bytes that a killed process had erased may still be in its log. On a full disk they stay
    // there: reads and purges still work.
    if (emptyLogWhereRoom(db, () => hasNoRoomAt(path))) dropOldLogs(path, tell)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

function dropOldLogs(path: string, tell: Tell): void {
  const removed = removeOldLogs(`${path}-wal`)
  if (removed.length === 0) return
  const message = `the ledger ${path} has all that was acknowledged; what an earlier process had put aside when its log was replaced was removed`
  tell({ level: 'warn', message, facts: { removed } })
}

function guarded(
  db: Database.Database,
  { path, ...parts }: Pick<Parts, 'path' | 'lock' | 'room' | 'tell'>,
): GuardedFile {
  const opened: { close(): void }[] = [db]
  try {
    const keeper = openToRead(path)
    opened.unshift(keeper)
    // Only after a read does the connection keep others from opening the file exclusively.
    keeper.prepare('SELECT count(*) FROM sqlite_schema').get()
    const held = new HeldFiles(path, PAGE_BYTES)
    opened.push(held)
    const notes = new CommitNotes(path, ledgerId(db))
    opened.push(notes)
    syncFolder(dirname(path))
    return new GuardedFile({ ...parts, path, db, keeper, held, notes })
  } catch (error) {
    for (const each of opened) each.close()
    throw error
  }
}

function assertPragmas(
  db: Database.Database,
  path: string,
  ofConnection: typeof OPENED_WITH | typeof READ_WITH,
): void {
  const all = [...CREATED_WITH, ...ofConnection, ['journal_mode', 'wal']] as const
  for (const [name, wanted] of all) {
    const found = db.pragma(name, { simple: true })
    if (found === wanted) continue
    const detail = `the ledger ${path} has ${name} ${String(found)} and needs ${wanted}; it cannot be used as it is`
    throw new CoatcheckError('ledger_unavailable', detail)
  }
}

/**
 * True when the file is empty or does not exist. Throws `ledger_corrupt` when it is no ledger.
 * Reads the header as bytes, since opening another program's database can change it.
 */
function isFresh(path: string): boolean {
  if (!existsSync(path)) return true
  const header = Buffer.alloc(HEADER_BYTES)
  const file = openSync(path, 'r')
  let bytes: number
  try {
    bytes = readSync(file, header, 0, HEADER_BYTES, 0)
  } finally {
    closeSync(file)
  }
  if (bytes === 0) return true
  const isLedger =
    bytes === HEADER_BYTES &&
    header.toString('latin1', 0, MAGIC.length) === MAGIC &&
    header.readUInt32BE(APPLICATION_ID_OFFSET) === APPLICATION_ID
  if (isLedger) return false
  const detail = `${path} is not a Coatcheck ledger and was left as it is; choose another path`
  throw new CoatcheckError('ledger_corrupt', detail)
}
