/**
 * What the figures were taken on.
 */
import { statfsSync } from 'node:fs'
import { arch, cpus, loadavg, release, tmpdir, totalmem, type } from 'node:os'

const GIBIBYTE = 1024 ** 3
const TMPFS = 0x01021994

/** One line each. */
export function describeMachine(): readonly string[] {
  const cores = cpus()
  const load = loadavg().map((value) => value.toFixed(1))
  return [
    `${cores.length} × ${cores[0]?.model.trim() ?? 'unknown processor'}, ${Math.round(totalmem() / GIBIBYTE)} GiB of memory`,
    `${type()} ${release()}, ${arch()}; Node ${process.versions.node} (V8 ${process.versions.v8})`,
    `load of the last 1, 5 and 15 minutes at the end: ${load.join(', ')}`,
    ...(isInMemory()
      ? ['the temporary folder is in memory: what is durable costs nothing here']
      : []),
  ]
}

const isInMemory = (): boolean => statfsSync(tmpdir()).type === TMPFS
