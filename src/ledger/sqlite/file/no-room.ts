/** Asks the disk whether it has room, where SQLite reports only that a write failed. */
import { closeSync, openSync, statSync, unlinkSync, writeSync } from 'node:fs'
import { isNoRoom } from './sqlite-errors.ts'

/** As much as SQLite writes at once. */
const PROBE_BYTES = 16_384

/**
 * True when the disk of the ledger at `path` takes no more bytes, by a full disk, a quota or a limit on the size of files.
 * It writes a file beside the ledger, as far from its start as the ledger and its log reach, and removes it again. False when
 * that works, and when it fails for another reason, such as a read-only file system.
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
