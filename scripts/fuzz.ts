/**
 * Sends a service as many requests as wanted, made from its own OpenAPI document, and judges each answer:
 * `npm run fuzz -- --runs 100000 --seed 1`, in pieces of 4,000, each with a seed of its own. Ends with a verdict and exits 1 when
 * it is not met:
 *
 * - no answer but a declared one, in status, type and body; so no 5xx but a 503 that says to come again; no crash;
 * - after the first third of the time, the last quarter takes no more than 32 MiB of RSS, 16 MiB of heap and 16 handles more
 *   than the first (medians).
 *
 * What goes wrong is shown as the smallest group of requests that brings it about, after those before it.
 */
import { setInterval } from 'node:timers'
import { parseArgs } from 'node:util'
import { AT_A_TIME, FUZZED_SETTINGS, Fuzzer } from '../test/fuzz/fuzzing.ts'
import { startChild } from '../test/support/service.ts'
import { Client } from './check/client.ts'
import { growth, type Sample, sample } from './check/soak-samples.ts'

const MEBIBYTE = 1_048_576
const PIECE_REQUESTS = 4_000
const SAMPLE_MS = 1_000
const LARGEST_GROWTH = {
  rssBytes: 32 * MEBIBYTE,
  heapBytes: 16 * MEBIBYTE,
  handles: 16,
} as const

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
  },
})

const child = await startChild({ env: FUZZED_SETTINGS })
const fuzzer = new Fuzzer(child.url)
const client = new Client(child.url)
const samples: Sample[] = []
const startedAt = performance.now()
const sampling = setInterval(() => void takeSample(), SAMPLE_MS)
try {
  await fuzz(Number(values.runs), Number(values.seed))
  if (!isFlat()) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  clearInterval(sampling)
  fuzzer.close()
  client.close()
  const { code } = await child.stop()
  const isClean = code === 0 && !/"level":(?:50|60)/.test(child.output)
  console.log(isClean ? 'ended as it should, no error in its log' : `ended with ${code}`)
  if (!isClean) process.exitCode = 1
}

async function fuzz(requests: number, seed: number): Promise<void> {
  for (let piece = 0; piece * PIECE_REQUESTS < requests; piece++) {
    const left = Math.min(PIECE_REQUESTS, requests - piece * PIECE_REQUESTS)
    await fuzzer.run(Math.ceil(left / AT_A_TIME), seed + piece)
    const { requests: sent, statuses } = fuzzer.fuzzed
    const shown = [...statuses].sort(([a], [b]) => a - b).map(([code, n]) => `${code}:${n}`)
    const rss = Math.round((samples.at(-1)?.rssBytes ?? 0) / MEBIBYTE)
    console.log(`${sent} requests (seed ${seed + piece}), ${rss} MiB, ${shown.join(' ')}`)
  }
}

/** A sample that cannot be had, since the service is gone, is told by the requests that fail. */
async function takeSample(): Promise<void> {
  const taken = await sample(child, client, startedAt).catch(() => undefined)
  if (taken !== undefined) samples.push(taken)
}

function isFlat(): boolean {
  const grown = Object.entries(LARGEST_GROWTH).map(([member, largest]) => {
    const more = growth(samples, member as keyof typeof LARGEST_GROWTH)
    console.log(`${member}: ${more} more, at most ${largest}`)
    return more <= largest
  })
  return grown.every(Boolean)
}
