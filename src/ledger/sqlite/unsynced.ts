/**
 * Transactions that do not wait for the disk: pieces of an unfinished value, and purges, whose
 * answer waits for a checkpoint.
 *
 * The end of the process loses none of them, since the system has the bytes. When the machine
 * stops, they may be lost from some commit on; the ledger is then in an earlier, consistent state.
 * With a write-ahead log, `synchronous = NORMAL` leaves out the flush at a commit and nothing else:
 *
 * - A later commit with `FULL` flushes the log, and with it all frames that were written before. So
 *   a result and its chunks reach the disk together.
 * - Frames are read back in order, up to the first that is not whole. No transaction is recovered
 *   without those before it.
 * - A checkpoint flushes the log before it copies it into the main file, with `NORMAL` as with
 *   `FULL`.
 */
import type Database from 'better-sqlite3'

const FULL = 2

/**
 * Runs `work`, whose commits do not wait for the disk. Must not be called inside a transaction.
 * Afterwards commits wait again, which is asserted.
 */
export function unsynced<Answer>(db: Database.Database, work: () => Answer): Answer {
  db.pragma('synchronous = NORMAL')
  try {
    return work()
  } finally {
    // A fault closes the connection.
    if (db.open) requireFull(db)
  }
}

function requireFull(db: Database.Database): void {
  db.pragma(`synchronous = ${FULL}`)
  const found = db.pragma('synchronous', { simple: true })
  if (found !== FULL) throw new Error(`The ledger's synchronous is ${String(found)}, not ${FULL}.`)
}
