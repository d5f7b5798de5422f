/** Reads the sizes of a ledger and the free room on its disk. */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskSizes } from '../../ledger.ts'

/**
 * Returns sizes in bytes by path alone; no file of the ledger is opened. Throws the errors of the
 * file system.
 */
export async function diskSizes(path: string): Promise<DiskSizes> {
  const [{ bavail, bsize }, ledgerBytes, logBytes] = await Promise.all([
    statfs(dirname(path)),
    sizeOf(path),
    sizeOf(`${path}-wal`),
  ])
  return { freeDiskBytes: bavail * bsize, ledgerBytes, logBytes }
}

/** Size of a file; 0 when it cannot be found. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}
