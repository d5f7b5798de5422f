/**
 * Copies of a ledger's log: what was acknowledged since the last checkpoint is nowhere else.
 */
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

/**
 * Gives an open log that was removed or replaced its name back, as a copy that is on disk before it has the name: the next start
 * finds all that was acknowledged. What has the name now is kept beside it, as `-wal.replaced`.
 */
export function rescueLog({
  path,
  descriptor,
}: {
  readonly path: string
  readonly descriptor: number
}): void {
  const copyPath = `${path}.rescued`
  rmSync(copyPath, { force: true })
  const copy = openSync(copyPath, 'wx', OF_THE_OWNER)
  try {
    for (const { bytes, at } of piecesOf(descriptor)) writeAll(copy, bytes, at)
    fsyncSync(copy)
  } finally {
    closeSync(copy)
  }
  if (existsSync(path)) renameSync(path, `${path}.replaced`)
  renameSync(copyPath, path)
  syncFolder(dirname(path))
}

/**
 * Writes a log's own bytes over it and flushes them. After a failed flush the system may still show bytes that the disk
 * does not have, and holds them for written. Throws when they do not reach the disk.
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

/** Has the entries of a folder on disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** An earlier process's failure, which nobody has been told of, would be reported to the next flush of this file. */
function forgetOldError(descriptor: number): void {
  try {
    fsyncSync(descriptor)
  } catch {
    // the bytes that it is about are written again
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
