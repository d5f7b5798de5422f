/**
 * Sends random requests, made from the OpenAPI document, to a service and checks each answer:
 * `npm run fuzz -- --runs 100000 --seed 1`. Requests are sent in parts of 2,000, each with its own
 * seed. Prints a verdict and exits 1 when a condition is not met:
 *
 * - Every answer is declared, in status, type and body. So there is no 5xx but a 503 that says to
 *   retry, and no crash.
 * - After the first third of the parts, the last quarter leaves at most 32 MiB of RSS, 8 MiB of
 *   live heap and buffers, and 16 handles more than the first (medians, each after a garbage
 *   collection).
 *
 * A failure is shown as the smallest group of requests that causes it, after the requests before
 * it.
 */

import { AT_A_TIME, FUZZED_SETTINGS, Fuzzer } from '../test/fuzz/fuzzing.ts'
import { startChild } from '../test/support/service.ts'
import { Client } from './check/client.ts'
import { growth, type Sample, sample } from './check/soak-samples.ts'
import { scriptOptions } from './options.ts'

const MEBIBYTE = 1_048_576
const PIECE_REQUESTS = 2_000
const PRELOAD = new URL('../test/fuzz/preload/collect.ts', import.meta.url)
const LARGEST_GROWTH = {
  rssBytes: 32 * MEBIBYTE,
  heapBytes: 8 * MEBIBYTE,
  handles: 16,
} as const

const { numbers: values } = scriptOptions({
  command: 'npm run fuzz --',
  does: 'Sends random requests made from the OpenAPI document, and checks each answer.',
  numbers: {
    runs: [20000, 'requests'],
    seed: [1, 'of the first piece'],
  },
})

const child = await startChild({ env: FUZZED_SETTINGS, preload: PRELOAD })
const fuzzer = new Fuzzer(child.url)
const client = new Client(child.url)
const samples: Sample[] = []
const startedAt = performance.now()
try {
  await fuzz(values.runs, values.seed)
  if (!isFlat()) process.exitCode = 1
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
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
    const { rssBytes, heapBytes } = await takeSample()
    const memory = `RSS ${mib(rssBytes)}, live ${mib(heapBytes)}`
    console.log(`${sent} requests (seed ${seed + piece}), ${memory}; ${shown.join(' ')}`)
  }
}

/** Takes a sample. Its heap is the heap and buffers after a garbage collection. */
async function takeSample(): Promise<Sample> {
  const heapBytes = Number(await child.tell(0))
  const taken = { ...(await sample(child, client, startedAt)), heapBytes }
  samples.push(taken)
  return taken
}

function mib(bytes: number): string {
  return `${(bytes / MEBIBYTE).toFixed(1)} MiB`
}

function isFlat(): boolean {
  const grown = Object.entries(LARGEST_GROWTH).map(([member, largest]) => {
    const more = growth(samples, member as keyof typeof LARGEST_GROWTH)
    console.log(`${member}: ${more} more, at most ${largest}`)
    return more <= largest
  })
  return grown.every(Boolean)
}
