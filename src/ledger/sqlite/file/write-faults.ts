/**
 * Errors after which it is not known that what was written is on disk.
 *
 * A failed flush is final: the system may mark the pages as written all the same, so that a later flush succeeds without them.
 * After any other failed call to the disk nothing is lost yet: what was written before is still to be flushed.
 */
import Database from 'better-sqlite3'

const FLUSHES = ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC']
/** Errors of the disk, with or without room. */
const DISK = /^SQLITE_(?:IOERR|FULL)/
/** A call that only reads leaves what was written as it is. */
const READS = /^SQLITE_IOERR_(?:READ|SHORT_READ|FSTAT|CORRUPTFS|DATA)$/

/** `lost`: bytes may never reach the disk. `in_doubt`: only a flush that succeeds tells that they do. */
export type WriteFault = 'lost' | 'in_doubt'

/** The fault that `error`, or what caused it, is; undefined where it says nothing about what was written. */
export function writeFaultOf(error: unknown): WriteFault | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('syscall' in at && /^f(?:data)?sync$/.test(String(at.syscall))) return 'lost'
    if (at instanceof Database.SqliteError) return faultOf(at)
  }
  return undefined
}

function faultOf(failed: InstanceType<typeof Database.SqliteError>): WriteFault | undefined {
  if (READS.test(failed.code)) return undefined
  if (FLUSHES.includes(failed.code)) return 'lost'
  return DISK.test(failed.code) ? 'in_doubt' : undefined
}
