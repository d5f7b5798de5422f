/**
 * Transactions that need not be on disk when they return: pieces of a value that is not finished, and a purge, whose answer
 * waits for a checkpoint. Of a killed process none is lost, since the system has them. Of a machine that stops, those from
 * some point on are, which leaves a state that was. With a log, `NORMAL` leaves out the flush at a commit and nothing else:
 *
 * - A later commit with `FULL` flushes the log file, and with it all frames that were written before its own. So a result and
 *   the pieces it is made of are on disk together.
 * - Frames are read back in order, up to the first that is not whole. No transaction is there without those before it.
 * - What a checkpoint takes into the main file is flushed in the log first, with `NORMAL` as with `FULL`.
 */
import type Database from 'better-sqlite3'

const FULL = 2

/** Runs `work`, outside any transaction, without waiting for the disk at its commits; all others wait, which is asserted. */
export function unsynced<Answer>(db: Database.Database, work: () => Answer): Answer {
  db.pragma('synchronous = NORMAL')
  try {
    return work()
  } finally {
    // a fault has closed it
    if (db.open) requireFull(db)
  }
}

function requireFull(db: Database.Database): void {
  db.pragma(`synchronous = ${FULL}`)
  const found = db.pragma('synchronous', { simple: true })
  if (found !== FULL) throw new Error(`The ledger's synchronous is ${String(found)}, not ${FULL}.`)
}
