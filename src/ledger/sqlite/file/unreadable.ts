/**
 * Distinguishes a disk that fails to read from a file whose bytes are wrong, since SQLite reports
 * both as SQLITE_CORRUPT.
 *
 * While SQLite has the ledger open, its files are read through SQLite's own descriptors. Opening
 * and closing another one would release all POSIX locks of this process on the file, which SQLite
 * depends on.
 */
import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  read,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
} from 'node:fs'
import { promisify } from 'node:util'

const DESCRIPTORS = '/proc/self/fd'
const PIECE_BYTES = 1_048_576

const readPiece = promisify(read)

/**
 * Reads the whole ledger at `path` and its log, which this process has open. False when the system
 * refuses a read. True when everything was read, and on a system that does not list descriptors.
 */
export async function isReadable(path: string): Promise<boolean> {
  try {
    for (const file of descriptorsOf(path)) {
      const piece = Buffer.allocUnsafe(PIECE_BYTES)
      const { size } = fstatSync(file)
      for (let at = 0; at < size; at += PIECE_BYTES) {
        await readPiece(file, piece, 0, PIECE_BYTES, at)
      }
    }
    return true
  } catch {
    return false
  }
}

/**
 * Reads the whole ledger at `path` and its log, which nothing in this process has open. False when
 * a read is refused.
 */
export function isReadableClosed(path: string): boolean {
  try {
    for (const name of [path, `${path}-wal`]) if (existsSync(name)) readAll(name)
    return true
  } catch {
    return false
  }
}

function readAll(path: string): void {
  const file = openSync(path, 'r')
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = 0; readSync(file, piece, 0, PIECE_BYTES, at) > 0; at += PIECE_BYTES);
  } finally {
    closeSync(file)
  }
}

/** One descriptor for each of the ledger's files that this process has open. */
function descriptorsOf(path: string): readonly number[] {
  if (!existsSync(DESCRIPTORS)) return []
  const real = realpathSync(path)
  const found = new Map<string, number>()
  for (const name of readdirSync(DESCRIPTORS)) {
    const file = targetOf(name)
    if (file === real || file === `${real}-wal`) found.set(file, Number(name))
  }
  return [...found.values()]
}

/**
 * Path of a descriptor. Undefined when it was closed meanwhile, such as that of the listing itself.
 */
function targetOf(name: string): string | undefined {
  try {
    return readlinkSync(`${DESCRIPTORS}/${name}`)
  } catch {
    return undefined
  }
}
