/**
 * File modes of a ledger. Its files are created for their owner alone. Wider modes of existing
 * files are kept, and reported.
 */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Notice } from '../../notice.ts'

const OF_THE_OWNER = 0o600
/** Mode of a folder that is created for a ledger. */
export const FOLDER_MODE = 0o700
const MODE_BITS = 0o777
const OF_OTHERS = 0o077
const OCTAL = 8
/**
 * Endings of the ledger and the files beside it. SQLite gives files that it creates the mode of the
 * ledger or of the lock.
 */
const SUFFIXES = ['', '-wal', '-shm', '.lock', '.lock-journal']

/**
 * Creates an empty file for its owner alone, unless it exists. Must not be called for a path that
 * SQLite has open: closing a descriptor would release SQLite's locks.
 */
export function makeOwn(path: string): void {
  if (existsSync(path)) return
  closeSync(openSync(path, 'a', OF_THE_OWNER))
}

/**
 * Notice for a ledger at `path` whose files or folder other users have rights on. Undefined when
 * they have none.
 */
export function noticeOfModes(path: string): Notice | undefined {
  const files = [dirname(path), ...SUFFIXES.map((suffix) => path + suffix)]
  const wide = files.flatMap((file) => {
    const mode = modeOf(file)
    return (mode & OF_OTHERS) === 0 ? [] : [{ path: file, mode: `0${mode.toString(OCTAL)}` }]
  })
  if (wide.length === 0) return undefined
  return {
    level: 'warn',
    message:
      "other users of this machine have rights on the ledger's files or folder, which hold the values of all tenants; run chmod 600 on the files and chmod 700 on the folder",
    facts: { wide },
  }
}

/** Mode bits of a file; 0 when it does not exist. */
function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & MODE_BITS
}
