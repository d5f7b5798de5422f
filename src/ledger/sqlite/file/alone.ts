/** A connection that has a ledger's file for itself. */
import Database from 'better-sqlite3'

/** How long others may take to close the file. */
const WAIT_MS = 1_000
/** Output of a process that had the file for itself. */
export const ALONE = 'alone'

/** Undefined when another connection, of any process and by any name, has the file at `path` open. Nothing is written. */
export function openAlone(path: string): Database.Database | undefined {
  const db = new Database(path, { fileMustExist: true, timeout: WAIT_MS })
  try {
    db.pragma('locking_mode = EXCLUSIVE')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    return db
  } catch (error) {
    db.close()
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      return undefined
    throw error
  }
}
