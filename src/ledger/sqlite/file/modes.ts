/** Who may read the ledger: its files are made for their owner alone. Wider ones that are found stay, and are told. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Notice } from '../../notice.ts'

const OF_THE_OWNER = 0o600
/** Of a folder that is made for a ledger. */
export const FOLDER_MODE = 0o700
const MODE_BITS = 0o777
const OF_OTHERS = 0o077
const OCTAL = 8
/** The ledger, and the files beside it. SQLite gives those that it makes the mode of the ledger or of the lock. */
const SUFFIXES = ['', '-wal', '-shm', '.lock', '.lock-journal']

/**
 * Makes an empty file for its owner alone, unless there is one. Only for a path that SQLite does not have open: closing a
 * descriptor would drop its locks.
 */
export function makeOwn(path: string): void {
  if (existsSync(path)) return
  closeSync(openSync(path, 'a', OF_THE_OWNER))
}

/** What is to be told when other users have rights on the files of the ledger at `path` or on its folder. */
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
      "other users of this machine have rights on the ledger's files or folder; all tenants' values are in them: chmod 600 the files, 700 the folder",
    facts: { wide },
  }
}

/** 0 when there is no such file. */
function modeOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & MODE_BITS
}
