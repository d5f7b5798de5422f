/**
 * Sends mixed traffic for some minutes, checks every answer, and watches the memory and files of
 * the service: `npm run check:soak -- --minutes 10 --clients 8 --seed 1`. Prints a verdict and
 * exits 1 when a condition is not met:
 *
 * - Every answer is the expected one, so there is no 5xx, and every byte reads back as put.
 * - After the first third of the time, the last quarter takes at most 32 MiB of RSS, 16 MiB of heap
 *   and 16 handles more than the first (medians).
 * - The log (WAL) never takes more than 128 MiB.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../../test/support/service.ts'
import { scriptOptions } from '../options.ts'
import { Client } from './client.ts'
import { growth, type Sample, sample } from './soak-samples.ts'
import { type Tally, Traffic } from './soak-traffic.ts'
import { drawing } from './soak-values.ts'

const MEBIBYTE = 1_048_576
const MS_PER_MINUTE = 60_000
const SAMPLE_MS = 1_000
const TELL_EVERY = 30
const MOST_WRONG_SHOWN = 20
const RSS_GROWTH_BYTES = 32 * MEBIBYTE
const HEAP_GROWTH_BYTES = 16 * MEBIBYTE
const HANDLES_GROWTH = 16
const LOG_BYTES = 128 * MEBIBYTE

const { numbers: values } = scriptOptions({
  command: 'npm run check:soak --',
  does: 'Sends mixed traffic for some minutes, and checks memory, log and every byte read back.',
  numbers: {
    minutes: [10, 'how long'],
    clients: [8, 'how many'],
    seed: [1, 'of what they send'],
  },
})

const child = await startChild()
const client = new Client(child.url)
const tally: Tally = { requests: 0, bytesPut: 0, bytesRead: 0, wrong: [] }
try {
  const samples = await soak()
  if (!verdict(samples)) process.exitCode = 1
} finally {
  client.close()
  const { code } = await child.stop()
  if (code !== 0) process.exitCode = 1
}

async function soak(): Promise<readonly Sample[]> {
  const startedAt = performance.now()
  const endsAt = startedAt + values.minutes * MS_PER_MINUTE
  const isOver = (): boolean => performance.now() >= endsAt
  const clients = Array.from({ length: values.clients }, (_, n) => {
    const draw = drawing(values.seed * 1_000 + n)
    return new Traffic(client, { name: `soak-${n}`, draw, tally }).run(isOver)
  })
  const samples: Sample[] = []
  while (!isOver()) {
    samples.push(await sample(child, client, startedAt))
    if (samples.length % TELL_EVERY === 1) tell(samples.at(-1) as Sample)
    await sleep(SAMPLE_MS)
  }
  await Promise.all(clients)
  return samples
}

function tell(one: Sample): void {
  console.log(
    `${one.seconds.toFixed(0)} s: RSS ${mib(one.rssBytes)}, heap ${mib(one.heapBytes)}, log ${mib(one.logBytes)}, file ${mib(one.fileBytes)}, ` +
      `${one.handles} handles; ${tally.requests} requests, ${tally.wrong.length} wrong`,
  )
}

function verdict(samples: readonly Sample[]): boolean {
  const most = (member: keyof Sample): number => Math.max(...samples.map((one) => one[member]))
  const rss = growth(samples, 'rssBytes')
  const heap = growth(samples, 'heapBytes')
  const handles = growth(samples, 'handles')
  const log = most('logBytes')
  const { requests, bytesPut, bytesRead, wrong } = tally
  const checks = [
    [
      `${requests} requests, ${mib(bytesPut)} put, ${mib(bytesRead)} read back; ${wrong.length} wrong answers`,
      wrong.length === 0,
    ],
    [
      `RSS grew by ${mib(rss)} of at most ${mib(RSS_GROWTH_BYTES)}; its peak was ${mib(most('rssBytes'))}`,
      rss <= RSS_GROWTH_BYTES,
    ],
    [
      `the heap grew by ${mib(heap)} of at most ${mib(HEAP_GROWTH_BYTES)}; its peak was ${mib(most('heapBytes'))}`,
      heap <= HEAP_GROWTH_BYTES,
    ],
    [
      `handles grew by ${handles} of at most ${HANDLES_GROWTH}; their peak was ${most('handles')}`,
      handles <= HANDLES_GROWTH,
    ],
    [
      `the log took ${mib(log)} of at most ${mib(LOG_BYTES)}; the file ${mib(most('fileBytes'))}`,
      log <= LOG_BYTES,
    ],
  ] as const
  for (const [what, isMet] of checks) console.log(`${isMet ? 'met   ' : 'missed'} ${what}`)
  for (const what of wrong.slice(0, MOST_WRONG_SHOWN)) console.log(`       ${what}`)
  return checks.every(([, isMet]) => isMet)
}

function mib(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(1)} MiB`
}
