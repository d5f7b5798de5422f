/**
 * Makes sure that only one process has a ledger open, by whatever name. The lock file has a name,
 * which a hard link, a renamed ledger or a removed lock file avoids. So the ledger itself records
 * the lock file under which it was last opened:
 *
 * - When the lock that was taken is the recorded one, no other process can have the ledger open to
 *   write, since it would hold that lock.
 * - When it is another one, after a move, a restored copy or a removed lock file, SQLite is asked
 *   whether any process has the file open. Each connection holds a lock on the file itself (its
 *   device and inode), which prevents another connection from opening it exclusively.
 *
 * Tools that read the ledger count in the second case only.
 */
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { ALONE, openAlone } from './alone.ts'
import type { Lock } from './lock.ts'

const PROBE = fileURLToPath(new URL('alone-process.ts', import.meta.url))

/**
 * Throws `ledger_unavailable` when the ledger at `path` has hard links: another process could open
 * it by another name at the same time.
 */
export function requireOneName(path: string): void {
  const { nlink } = statSync(path)
  if (nlink <= 1) return
  const detail = `the ledger ${path} has ${nlink} names (hard links), and a second service could open it by another one; remove the others (find them with: find / -xdev -samefile ${path}), or use a copy`
  throw new CoatcheckError('ledger_unavailable', detail)
}

/**
 * Throws `ledger_unavailable` when another process has the ledger at `path` open under another lock
 * than `lock`. Must be called with the lock taken and before the ledger is opened.
 */
export function requireOneProcess(path: string, lock: Lock): void {
  if (recordedLock(path) === lock.identity || isAlone(path)) return
  const detail = `the ledger ${path} is open in another process, under another name or because its lock file was removed; stop that process (fuser ${path} shows it; after a move of the ledger a tool that reads it counts, too), or choose another path`
  throw new CoatcheckError('ledger_unavailable', detail)
}

/**
 * Records that the ledger is open under `lock`, see {@link requireOneProcess}. Throws
 * `ledger_unavailable` when the lock file was removed meanwhile.
 */
export function recordLock(db: Database.Database, lock: Lock): void {
  lock.requireThere()
  const found = db.prepare('SELECT identity FROM lock_file').pluck().get()
  if (found === lock.identity) return
  db.prepare('INSERT OR REPLACE INTO lock_file (only_row, identity) VALUES (1, ?)').run(
    lock.identity,
  )
  lock.requireThere()
}

/**
 * Identity of the recorded lock file; undefined when none is recorded. The files stay as they are.
 * A connection that may write copies a log into the ledger when it is closed. One that only reads
 * leaves a log and its index where there were none. So the connection is read-only exactly when
 * there is a log.
 */
function recordedLock(path: string): unknown {
  const db = new Database(path, { readonly: hasLog(path), fileMustExist: true })
  try {
    const tables = db.prepare(`SELECT count(*) FROM sqlite_schema WHERE name = 'lock_file'`).pluck()
    if (tables.get() === 0) return undefined
    return db.prepare('SELECT identity FROM lock_file').pluck().get()
  } finally {
    db.close()
  }
}

/**
 * Whether no other process has the ledger at `path` open. When there is a log, closing the
 * connection that tests this would copy the log into the ledger before it has been examined. Then a
 * separate process tests it, and ends without closing the ledger.
 */
function isAlone(path: string): boolean {
  if (!hasLog(path)) {
    const db = openAlone(path)
    db?.close()
    return db !== undefined
  }
  const { stdout, stderr, error } = spawnSync(process.execPath, [PROBE, path], { encoding: 'utf8' })
  if (stdout.startsWith(ALONE)) return true
  if (error === undefined && stderr === '') return false
  throw new CoatcheckError(
    'ledger_unavailable',
    `the ledger ${path} cannot be opened: ${stderr}`,
    {},
    { cause: error },
  )
}

function hasLog(path: string): boolean {
  return (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0
}
