/** Opens a ledger's file exclusively. */
import Database from 'better-sqlite3'

/** Milliseconds that other connections have to close the file. */
const WAIT_MS = 1_000
/** Output of `alone-process.ts` when no other connection has the file open. */
export const ALONE = 'alone'

/**
 * Opens the file at `path` exclusively. Undefined when another connection, of any process and by
 * any name, has the file open. Writes nothing.
 */
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
