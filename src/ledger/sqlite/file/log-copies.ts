/** Copies a ledger's log, which alone holds what was acknowledged since the last checkpoint. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

const PIECE_BYTES = 1_048_576
const OF_THE_OWNER = 0o600
/** Ends the name of what had the log's name when the log was put back. */
const REPLACED = '.replaced'
/** Ends the name of a copy of the log that is being made. A process that ends leaves it. */
const RESCUED = '.rescued'

/**
 * Restores an open log that was removed or replaced. A copy is written to disk and then gets the
 * name, so that the next start finds everything that was acknowledged. A file that has the name now
 * is kept as `-wal.replaced` until {@link removeOldLogs}.
 */
export function rescueLog({
  path,
  descriptor,
}: {
  readonly path: string
  readonly descriptor: number
}): void {
  const copyPath = `${path}${RESCUED}`
  rmSync(copyPath, { force: true })
  const copy = openSync(copyPath, 'wx', OF_THE_OWNER)
  try {
    for (const { bytes, at } of piecesOf(descriptor)) writeAll(copy, bytes, at)
    fsyncSync(copy)
  } finally {
    closeSync(copy)
  }
  if (existsSync(path)) renameSync(path, `${path}${REPLACED}`)
  renameSync(copyPath, path)
  syncFolder(dirname(path))
}

/**
 * Removes what rescues of the log at `path` have left. Only once the ledger has all of the log:
 * until then it may be the operator's last resort. Returns the paths of the files that were there.
 */
export function removeOldLogs(path: string): readonly string[] {
  const left = [`${path}${REPLACED}`, `${path}${RESCUED}`].filter((copy) => existsSync(copy))
  for (const copy of left) rmSync(copy, { force: true })
  if (left.length > 0) syncFolder(dirname(path))
  return left
}

/**
 * Overwrites a log with its own bytes and flushes it. After a failed flush the system may still
 * show bytes that the disk does not have, and takes them for written. Throws when the bytes do not
 * reach the disk.
 */
export function rewriteLog(path: string): void {
  if (!existsSync(path)) return
  const log = openSync(path, 'r+')
  try {
    forgetOldError(log)
    for (const { bytes, at } of piecesOf(log)) writeAll(log, bytes, at)
    fsyncSync(log)
  } finally {
    closeSync(log)
  }
}

/** Flushes the entries of a folder to disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/**
 * Flushes once and ignores the error. A failure in an earlier process that was not reported yet
 * would be reported by the next flush of this file.
 */
function forgetOldError(descriptor: number): void {
  try {
    fsyncSync(descriptor)
  } catch {
    // The bytes concerned are written again.
  }
}

function* piecesOf(descriptor: number): Generator<{ bytes: Buffer; at: number }> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (let at = 0; ; ) {
    const length = readSync(descriptor, piece, 0, PIECE_BYTES, at)
    if (length === 0) return
    yield { bytes: piece.subarray(0, length), at }
    at += length
  }
}

function writeAll(descriptor: number, bytes: Buffer, at: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, at + done)
  }
}
