/** Samples of the memory and files of a service, once a second, and their growth. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { ServiceChild } from '../../test/support/service.ts'
import type { Client } from './client.ts'
import { median } from './statistics.ts'

const KIBIBYTE = 1024
const HEAP = /^coatcheck_nodejs_heap_size_used_bytes (\S+)/m
const RSS = /^VmRSS:\s+(\d+) kB/m

/** Resources that a service uses at one time. */
export interface Sample {
  readonly seconds: number
  readonly rssBytes: number
  readonly heapBytes: number
  readonly logBytes: number
  readonly fileBytes: number
  readonly handles: number
}

/** Takes a sample of a service that runs on this machine. */
export async function sample(
  { pid, ledger }: ServiceChild,
  client: Client,
  startedAt: number,
): Promise<Sample> {
  const metrics = String((await client.send('GET', '/metrics')).body)
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    seconds: (performance.now() - startedAt) / 1000,
    rssBytes: Number(RSS.exec(status)?.[1]) * KIBIBYTE,
    heapBytes: Number(HEAP.exec(metrics)?.[1]),
    logBytes: sizeOf(`${ledger}-wal`),
    fileBytes: sizeOf(ledger),
    handles: readdirSync(`/proc/${pid}/fd`).length,
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

/**
 * Growth: the median of the last quarter of the samples minus that of the first quarter. The first
 * third of all samples is ignored, since caches and the heap grow in that time.
 */
export function growth(
  samples: readonly Sample[],
  member: Exclude<keyof Sample, 'seconds'>,
): number {
  const warm = samples.slice(Math.floor(samples.length / 3))
  const quarter = Math.ceil(warm.length / 4)
  const of = (part: readonly Sample[]): number => median(part.map((one) => one[member]))
  return of(warm.slice(-quarter)) - of(warm.slice(0, quarter))
}
