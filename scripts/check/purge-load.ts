/**
 * Measures how purges affect other requests. Fills a service with runs, then times puts, recalls
 * and `/livez` alternately without and with purges, until all those runs are gone. Exits 1 when one
 * of the three has a p99 with purges of more than `--ratio` times the p99 without.
 * `npm run check:purge`, by default with
 * `--runs 1000 --results 100 --bytes 1000 --purgers 4 --turn-ms 2000 --ratio 3`.
 */

import { startChild } from '../../test/support/service.ts'
import { scriptOptions } from '../options.ts'
import { Client } from './client.ts'
import { median, quantile } from './statistics.ts'

const FILLERS = 32
const PROBERS = 4
const P99 = 0.99
const TEXT = 'text/plain'
const PROBED = '/v1/runs/probed'

const { numbers: values } = scriptOptions({
  command: 'npm run check:purge --',
  does: 'Measures how purges affect other requests.',
  numbers: {
    runs: [1000, 'that are filled and purged'],
    results: [100, 'of each run'],
    bytes: [1000, 'of each result'],
    purgers: [4, 'purges at the same time'],
    'turn-ms': [2000, 'how long a turn takes, in ms'],
    ratio: [3, 'most that the p99 may grow'],
  },
})
const { runs, results, bytes } = values

type Times = Record<'put' | 'recall' | 'livez', number[]>
const noTimes = (): Times => ({ put: [], recall: [], livez: [] })

const child = await startChild({ env: { COATCHECK_LOG_LEVEL: 'info' } })
const client = new Client(child.url)
try {
  await fill()
  const [without, during] = await measure()
  report(without, during)
} finally {
  client.close()
  await child.stop()
}

/** Does all of `work`, with at most `width` tasks at a time. */
async function inParallel(width: number, work: (() => Promise<unknown>)[]): Promise<void> {
  const worker = async (): Promise<void> => {
    for (let next = work.pop(); next !== undefined; next = work.pop()) await next()
  }
  await Promise.all(Array.from({ length: width }, worker))
}

async function fill(): Promise<void> {
  const startedAt = performance.now()
  const fillRun = async (run: number): Promise<void> => {
    for (let n = 0; n < results; n++) {
      const body = `${run} ${n} `.padEnd(bytes, 'a line of some result\n')
      const path = `/v1/runs/filled-${run}/results`
      const { status } = await client.send('POST', path, { type: TEXT, body })
      if (status !== 201) throw new Error(`a put was answered with ${status}`)
    }
  }
  await inParallel(
    FILLERS,
    Array.from({ length: runs }, (_, run) => () => fillRun(run)),
  )
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
  console.log(`${runs * results} results in ${runs} runs, filled in ${seconds} s`)
}

/** Measures alternately without and with purges, until no run is left to purge. */
async function measure(): Promise<readonly [Times, Times]> {
  const [without, during] = [noTimes(), noTimes()]
  const purges = Array.from({ length: runs }, (_, run) => async () => {
    const { status } = await client.send('DELETE', `/v1/runs/filled-${run}?purge=true`)
    if (status !== 200) throw new Error(`a purge was answered with ${status}`)
  })
  await probe(noTimes(), turnEnd())
  while (purges.length > 0) {
    await probe(without, turnEnd())
    const end = turnEnd()
    const purgers = Array.from({ length: values.purgers }, async () => {
      for (let next = purges.pop(); next !== undefined; next = purges.pop()) {
        await next()
        if (end()) return
      }
    })
    const purging = Promise.all(purgers)
    let isOver = false
    void purging.finally(() => {
      isOver = true
    })
    await probe(during, () => isOver)
    await purging
  }
  return [without, during]
}

function turnEnd(): () => boolean {
  const at = performance.now() + values['turn-ms']
  return () => performance.now() >= at
}

/** Sends one request after the other from each of several clients. */
async function probe(times: Times, isOver: () => boolean): Promise<void> {
  const prober = async (): Promise<void> => {
    while (!isOver()) {
      const body = 'a line of some result\n'.repeat(50)
      times.put.push((await client.send('POST', `${PROBED}/results`, { type: TEXT, body })).ms)
      const recall = { type: 'application/json', body: '{"id": "r1"}' }
      times.recall.push((await client.send('POST', `${PROBED}/recall`, recall)).ms)
      times.livez.push((await client.send('GET', '/livez')).ms)
    }
  }
  await Promise.all(Array.from({ length: PROBERS }, prober))
}

function report(without: Times, during: Times): void {
  for (const kind of ['put', 'recall', 'livez'] as const) {
    const [p99, p99During] = [quantile(without[kind], P99), quantile(during[kind], P99)]
    const ratio = p99During / p99
    const isMet = ratio <= values.ratio
    if (!isMet) process.exitCode = 1
    console.log(
      `${kind}: p50 ${median(without[kind]).toFixed(2)} ms, with purges ${median(during[kind]).toFixed(2)} ms; ` +
        `p99 ${p99.toFixed(2)} ms, with purges ${p99During.toFixed(2)} ms: ${ratio.toFixed(2)}x of at most ${values.ratio}x, ${isMet ? 'met' : 'missed'} ` +
        `(${without[kind].length} and ${during[kind].length} requests)`,
    )
  }
}
