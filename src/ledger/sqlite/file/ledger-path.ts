/** Checks of a ledger's path before anything is opened. They throw `ledger_unavailable` with what to do. */
import { accessSync, constants, existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CoatcheckError } from '../../../core/errors.ts'
import { syncFolder } from './log-copies.ts'
import { FOLDER_MODE } from './modes.ts'

/** One name for one file, so that a link does not get a lock of its own. Makes the folders. */
export function realPath(path: string): string {
  const absolute = resolve(path)
  if (existsSync(absolute)) return realpathSync(absolute)
  makeFolders(dirname(absolute))
  return join(realpathSync(dirname(absolute)), basename(absolute))
}

export function requireFile(path: string): void {
  const found = statSync(path)
  if (found.isFile()) return
  const what = found.isDirectory() ? 'a folder; name a file in it' : 'no file; choose another path'
  throw new CoatcheckError('ledger_unavailable', `the ledger ${path} is ${what}`)
}

/** SQLite opens what it may not write without a word, to read; the first put would tell. */
export function requireWritable(path: string, what: string): void {
  try {
    accessSync(path, constants.W_OK)
  } catch (error) {
    const detail = `${what} ${path} cannot be written; give this user the right to, or choose another path`
    throw new CoatcheckError('ledger_unavailable', detail, {}, { cause: error })
  }
}

/** One at a time: the recursive call of Node 24 never ends below a folder that refuses new ones with ENOENT, as /proc does. */
function makeFolders(path: string): void {
  const missing: string[] = []
  for (let folder = path; !existsSync(folder); folder = dirname(folder)) missing.push(folder)
  for (const folder of missing.reverse()) {
    mkdirSync(folder, FOLDER_MODE)
    syncFolder(dirname(folder))
  }
}
