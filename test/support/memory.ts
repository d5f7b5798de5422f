// How much memory a process has, as Linux tells it.
import { readFileSync } from 'node:fs'

const BYTES_PER_KIB = 1024

/** Resident bytes of a process: `now`, and at most since it began. */
export function residentBytes(pid: number): { readonly now: number; readonly peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytesOf = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * BYTES_PER_KIB
  return { now: bytesOf('VmRSS'), peak: bytesOf('VmHWM') }
}
