// Calls of a service on its files that fail, by a library that is compiled here and loaded into it.
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const SOURCE = fileURLToPath(new URL('disk-faults.c', import.meta.url))

export const ERRNO = { none: 0, EIO: 5, EFBIG: 27, ENOSPC: 28, EROFS: 30 } as const

export interface Fault {
  readonly call: 'pread' | 'pwrite' | 'ftruncate' | 'fsync'
  readonly errno: (typeof ERRNO)[keyof typeof ERRNO]
  /** How the path of the file ends. */
  readonly file: string
}

export interface DiskFaults {
  /** For the environment of the service. */
  readonly env: Readonly<Record<string, string>>
  /** From now on these calls fail, and no others. */
  set(...faults: readonly Fault[]): void
}

/** Undefined where there is no C compiler. `folder` takes the library. */
export function compileDiskFaults(folder: string): DiskFaults | undefined {
  const library = join(folder, 'disk-faults.so')
  const flags = ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl']
  if (spawnSync('gcc', flags, { stdio: 'ignore' }).status !== 0) return undefined
  const control = join(folder, 'disk-faults')
  return {
    env: { LD_PRELOAD: library, DISK_FAULTS: control },
    set(...faults) {
      if (faults.length === 0) return rmSync(control, { force: true })
      const lines = faults.map(({ call, errno, file }) => `${call} ${errno} ${file}\n`)
      writeFileSync(control, lines.join(''))
    },
  }
}
