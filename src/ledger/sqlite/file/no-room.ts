/** Tests whether the disk has room, since SQLite reports only that a write failed. */
import { closeSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { isNoRoom } from './sqlite-errors.ts'

/** Bytes that are written as a test: a page of the ledger. */
const PROBE_BYTES = 16_384

/**
 * Whether the disk of the ledger at `path` takes no more bytes, because of a full disk, a quota or
 * a limit on file sizes. Writes a file beside the ledger, at the offset where the longer of ledger
 * and log ends, and removes it again. False when that works, and when it fails for another reason,
 * such as a read-only file system.
 */
export function hasNoRoomAt(path: string): boolean {
  const probe = `${path}.probe`
  try {
    const file = openSync(probe, 'w', 0o600)
    try {
      const at = Math.max(sizeOf(path), sizeOf(`${path}-wal`))
      return writeSync(file, Buffer.alloc(PROBE_BYTES, 1), 0, PROBE_BYTES, at) < PROBE_BYTES
    } finally {
      closeSync(file)
      unlinkSync(probe)
    }
  } catch (error) {
    return error instanceof Error && 'code' in error && isNoRoom(String(error.code))
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
