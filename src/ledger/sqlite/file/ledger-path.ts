/**
 * Checks a ledger's path before anything is opened. The checks throw `ledger_unavailable` with what
 * to do.
 */
import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CoatcheckError } from '../../../core/errors.ts'
import { syncFolder } from './log-copies.ts'
import { FOLDER_MODE } from './modes.ts'

/**
 * Resolves a path to one name for each file, so that a symbolic link does not get a lock of its
 * own. Creates missing folders.
 */
export function realPath(path: string): string {
  const absolute = resolve(path)
  if (existsSync(absolute)) return realpathSync(absolute)
  makeFolders(dirname(absolute))
  return join(realpathSync(dirname(absolute)), basename(absolute))
}

/** Throws `ledger_unavailable` when `path` is no regular file. */
export function requireFile(path: string): void {
  const found = statSync(path)
  if (found.isFile()) return
  const what = found.isDirectory() ? 'a folder; name a file in it' : 'no file; choose another path'
  throw new CoatcheckError('ledger_unavailable', `the ledger ${path} is ${what}`)
}

/**
 * Throws `ledger_unavailable` when `path` cannot be written. SQLite would open it read-only without
 * an error, and only the first put would fail. `what` names it in the detail.
 */
export function requireWritable(path: string, what: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch (error) {
    const detail = `${what} ${path} cannot be written; give this user the right to, or choose another path`
    throw new CoatcheckError('ledger_unavailable', detail, {}, { cause: error })
  }
}

/**
 * Creates missing folders one at a time. The recursive call of Node 24 never returns below a folder
 * that refuses new ones with ENOENT, such as /proc.
 */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.reverse()) {
    mkdirSync(folder, FOLDER_MODE)
    syncFolder(dirname(folder))
  }
}
