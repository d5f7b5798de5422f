/**
 * Measures how hostile clients affect an ordinary one. Times its puts alternately alone and beside
 * clients that constantly send requests made to corrupt, stall or expand. Exits 1 when the p99
 * beside them is more than `--ratio` times the p99 alone, or when a hostile request gets a server
 * error other than 503. `npm run check:hostile`, by default with
 * `--clients 8 --bytes 16000 --turns 8 --turn-ms 4000 --ratio 3`.
 */

import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { startChild } from '../../test/support/service.ts'
import { scriptOptions } from '../options.ts'
import { Client } from './client.ts'
import type { HostileAnswers, HostileData } from './hostile-clients.ts'
import { median, quantile } from './statistics.ts'

const P99 = 0.99
const CREATED = 201
const SERVER_ERROR = 500
const OVERLOADED = 503

const { numbers: values } = scriptOptions({
  command: 'npm run check:hostile --',
  does: 'Measures how hostile clients affect an ordinary one.',
  numbers: {
    clients: [8, 'hostile clients'],
    bytes: [16000, 'of each hostile body'],
    turns: [8, 'how often both are measured'],
    'turn-ms': [4000, 'how long a turn takes, in ms'],
    ratio: [3, 'most that the p99 may grow'],
  },
})

const turnMs = values['turn-ms']
const child = await startChild({ env: { COATCHECK_LOG_LEVEL: 'info' } })
const client = new Client(child.url)
const attackers = startAttackers()
const answers = new Map<string, number>()
let ordinary = 0
try {
  await putUntil([], Date.now() + turnMs)
  const [alone, beside]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < values.turns; turn++) {
    await putUntil(alone, Date.now() + turnMs)
    const untilMs = Date.now() + turnMs
    const attacked = once(attackers, 'message')
    attackers.postMessage(untilMs)
    await putUntil(beside, untilMs)
    count((await attacked)[0] as HostileAnswers)
  }
  report(alone, beside)
} finally {
  client.close()
  await attackers.terminate()
  await child.stop()
}

function startAttackers(): Worker {
  const workerData: HostileData = {
    url: child.url,
    clients: values.clients,
    bytes: values.bytes,
  }
  return new Worker(new URL('hostile-clients.ts', import.meta.url), { workerData })
}

async function putUntil(times: number[], untilMs: number): Promise<void> {
  while (Date.now() < untilMs) {
    const body = `${ordinary++} `.padEnd(1_000, 'a line of some result\n')
    const sent = { type: 'text/plain', body }
    const { status, ms } = await client.send('POST', '/v1/runs/ordinary/results', sent)
    if (status !== CREATED) throw new Error(`an ordinary put was answered with ${status}`)
    times.push(ms)
  }
}

/** Counts answers. Fails the check for a server error other than 503. */
function count(more: HostileAnswers): void {
  for (const [answer, times] of more) {
    answers.set(answer, (answers.get(answer) ?? 0) + times)
    const status = Number(answer.split(' ').at(-1))
    if (status >= SERVER_ERROR && status !== OVERLOADED) process.exitCode = 1
  }
}

function report(alone: readonly number[], beside: readonly number[]): void {
  for (const [answer, count] of [...answers].sort()) console.log(`${answer} (${count})`)
  const [p99, p99Beside] = [quantile(alone, P99), quantile(beside, P99)]
  const ratio = p99Beside / p99
  const isMet = ratio <= values.ratio
  if (!isMet) process.exitCode = 1
  console.log(
    `ordinary puts: p50 ${median(alone).toFixed(2)} ms alone, ${median(beside).toFixed(2)} ms beside ${values.clients} hostile clients; ` +
      `p99 ${p99.toFixed(2)} ms and ${p99Beside.toFixed(2)} ms: ${ratio.toFixed(2)}x of at most ${values.ratio}x, ${isMet ? 'met' : 'missed'} ` +
      `(${alone.length} and ${beside.length} puts)`,
  )
}
