// Small disks of a service's own, which outlive it: a file system in memory, in a mount namespace that a shell holds.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'

const IN_A_NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount']

const [command = '', ...rest] = IN_A_NAMESPACE
/** False where this user may not make mount namespaces. */
export const hasSmallDisks: boolean =
  spawnSync(command, [...rest, 'mount', '-t', 'tmpfs', 'disk', '/mnt']).status === 0

export interface SmallDisk {
  /** Before a command: it has the disk. */
  readonly wrapper: readonly string[]
  /** How this process sees a path on the disk. */
  seen(path: string): string
  /** Gives the disk up with all that is on it. */
  remove(): void
}

/** A disk of `bytes` at `folder`, for processes with its wrapper. */
export async function makeSmallDisk(folder: string, bytes: number): Promise<SmallDisk> {
  const script = `mount -t tmpfs -o size=${bytes} disk ${folder} && echo mounted && exec cat`
  const holder: ChildProcess = spawn(command, [...rest, 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  if (holder.stdout === null) throw new Error('no output')
  await once(holder.stdout, 'data')
  const { pid } = holder
  return {
    wrapper: ['nsenter', `--target=${pid}`, '--user', '--mount', '--preserve-credentials', '--'],
    seen: (path) => `/proc/${pid}/root${path}`,
    remove: () => void holder.kill('SIGKILL'),
  }
}
