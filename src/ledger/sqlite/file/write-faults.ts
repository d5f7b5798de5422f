/**
 * Recognizes errors after which it is uncertain that earlier writes are on disk.
 *
 * A failed flush is final: the system may mark the pages as written all the same, so that a later
 * flush succeeds without them. After any other failed call to the disk nothing is lost yet: earlier
 * writes are still to be flushed.
 */
import Database from 'better-sqlite3'

const FLUSHES = ['SQLITE_IOERR_FSYNC', 'SQLITE_IOERR_DIR_FSYNC']
/** Errors of the disk, a lack of room included. */
const DISK = /^SQLITE_(?:IOERR|FULL)/
/** Errors of calls that only read, which do not affect earlier writes. */
const READS = /^SQLITE_IOERR_(?:READ|SHORT_READ|FSTAT|CORRUPTFS|DATA)$/

/**
 * Effect of an error on earlier writes. `lost`: bytes may never reach the disk. `in_doubt`: only a
 * successful flush shows that they do.
 */
export type WriteFault = 'lost' | 'in_doubt'

/** Effect of `error` or its causes on earlier writes. Undefined when there is none. */
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
