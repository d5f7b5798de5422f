/**
 * Measures how hostile callers of resolve affect an ordinary one. Times its calls alone, and beside
 * clients that constantly send slow patterns, each over its own connection. Exits 1 when the p50
 * beside them exceeds `--p50-ms`, or an ordinary call was refused. `npm run check:hostile-resolve`,
 * by default with `--clients 8 --seconds 10 --rounds 3 --p50-ms 20`. With `--fresh 1` each of their
 * calls has a new schema.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startChild } from '../../test/support/service.ts'
import { Client } from './client.ts'
import { median, quantile } from './statistics.ts'

const P99 = 0.99
const OK = 200
const MS_PER_SECOND = 1000
/** Pause between two ordinary calls, as in a loop, in milliseconds. */
const PAUSE_MS = 10
const PATH = '/v1/runs/shared/resolve'
const ORDINARY = {
  arguments: { path: 'a/b.txt', n: 3 },
  input_schema: {
    type: 'object',
    properties: { path: { type: 'string', pattern: '^[a-z/.]+$' }, n: { type: 'integer' } },
    required: ['path'],
  },
}

const number = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: {
    clients: number('8'),
    seconds: number('10'),
    rounds: number('3'),
    'p50-ms': number('20'),
    fresh: number('0'),
  },
})

interface Timed {
  readonly times: number[]
  readonly refused: number
}

const hostileAnswers = new Map<number, number>()
const child = await startChild()
const client = new Client(child.url)
try {
  await timeUntil(Date.now() + MS_PER_SECOND)
  for (let round = 0; round < Number(values.rounds); round++) {
    const roundMs = Number(values.seconds) * MS_PER_SECOND
    const alone = await timeUntil(Date.now() + roundMs)
    const untilMs = Date.now() + roundMs
    const attack = Promise.all(
      Array.from({ length: Number(values.clients) }, () => attackUntil(untilMs)),
    )
    const beside = await timeUntil(untilMs)
    await attack
    report(alone, beside)
  }
} finally {
  client.close()
  await child.stop()
}
const answers = [...hostileAnswers].map(([status, count]) => `${status} (${count})`).join(', ')
console.log(`hostile calls: ${answers}`)

async function timeUntil(untilMs: number): Promise<Timed> {
  const times: number[] = []
  let refused = 0
  while (Date.now() < untilMs) {
    const sent = { type: 'application/json', body: JSON.stringify(ORDINARY) }
    const { status, ms } = await client.send('POST', PATH, sent)
    if (status === OK) times.push(ms)
    else refused++
    await sleep(PAUSE_MS)
  }
  return { times, refused }
}

async function attackUntil(untilMs: number): Promise<void> {
  const own = new Client(child.url)
  for (let n = 0; Date.now() < untilMs; n++) {
    const title = values.fresh === '1' ? { title: `${n} ${Math.random()}` } : {}
    const call = { arguments: `${'a'.repeat(60)}!`, input_schema: { ...title, pattern: '^(a+)+$' } }
    const sent = { type: 'application/json', body: JSON.stringify(call) }
    const { status } = await own.send('POST', PATH, sent)
    hostileAnswers.set(status, (hostileAnswers.get(status) ?? 0) + 1)
  }
  own.close()
}

function report(alone: Timed, beside: Timed): void {
  const p50 = median(beside.times)
  const isMet = p50 <= Number(values['p50-ms']) && beside.refused === 0
  if (!isMet) process.exitCode = 1
  console.log(
    `ordinary calls of resolve: p50 ${median(alone.times).toFixed(1)} ms alone, ${p50.toFixed(1)} ms beside ${values.clients} hostile clients; ` +
      `p99 ${quantile(alone.times, P99).toFixed(1)} and ${quantile(beside.times, P99).toFixed(1)} ms; ` +
      `${beside.refused} of ${beside.times.length + beside.refused} refused; ${isMet ? 'met' : 'missed'}`,
  )
}
