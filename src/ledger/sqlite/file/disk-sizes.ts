/** Sizes of a ledger and of the room on its disk. */
import { stat, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskSizes } from '../../ledger.ts'

/** By path alone: nothing of the ledger is opened. */
export async function diskSizes(path: string): Promise<DiskSizes> {
  const [{ bavail, bsize }, ledgerBytes, logBytes] = await Promise.all([
    statfs(dirname(path)),
    sizeOf(path),
    sizeOf(`${path}-wal`),
  ])
  return { freeDiskBytes: bavail * bsize, ledgerBytes, logBytes }
}

/** 0 for a file that is not there. */
async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size
  } catch {
    return 0
  }
}
