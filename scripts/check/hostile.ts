/**
 * What an ordinary client notices of hostile ones: times its puts in turns alone and beside clients that send, without a pause,
 * requests made to corrupt, stall or expand. Exits 1 when the p99 beside them is more than `--ratio` times the p99 alone, or
 * when one of theirs is answered with a server error other than 503. `npm run check:hostile`, with `--clients 8 --bytes 16000
 * --turns 8 --turn-ms 4000 --ratio 3` unless said otherwise.
 */
import { parseArgs } from 'node:util'
import { startChild } from '../../test/support/service.ts'
import { Client } from './client.ts'
import { hostileRequests } from './hostile-requests.ts'
import { median, quantile } from './statistics.ts'

const P99 = 0.99
const CREATED = 201
const SERVER_ERROR = 500
const OVERLOADED = 503

const number = (value: string) => ({ type: 'string', default: value }) as const
const { values } = parseArgs({
  options: {
    clients: number('8'),
    bytes: number('16000'),
    turns: number('8'),
    'turn-ms': number('4000'),
    ratio: number('3'),
  },
})

const child = await startChild({ env: { COATCHECK_LOG_LEVEL: 'info' } })
const client = new Client(child.url)
const answers = new Map<string, number>()
let ordinary = 0
try {
  const requests = hostileRequests(Number(values.bytes))
  await putUntil([], turnEnd())
  const [alone, beside]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < Number(values.turns); turn++) {
    await putUntil(alone, turnEnd())
    const isOver = turnEnd()
    const attackers = Array.from({ length: Number(values.clients) }, async (_, first) => {
      for (let next = first; !isOver(); next++) await attack(requests[next % requests.length])
    })
    await Promise.all([putUntil(beside, isOver), ...attackers])
  }
  report(alone, beside)
} finally {
  client.close()
  await child.stop()
}

function turnEnd(): () => boolean {
  const at = performance.now() + Number(values['turn-ms'])
  return () => performance.now() >= at
}

async function putUntil(times: number[], isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const body = `${ordinary++} `.padEnd(1_000, 'a line of some result\n')
    const sent = { type: 'text/plain', body }
    const { status, ms } = await client.send('POST', '/v1/runs/ordinary/results', sent)
    if (status !== CREATED) throw new Error(`an ordinary put was answered with ${status}`)
    times.push(ms)
  }
}

async function attack(request: ReturnType<typeof hostileRequests>[number] | undefined) {
  if (request === undefined) return
  const { method, path, sent, what } = request
  const { status } = await client.send(method, path, sent)
  const answer = `${what}: ${status}`
  answers.set(answer, (answers.get(answer) ?? 0) + 1)
  if (status >= SERVER_ERROR && status !== OVERLOADED) process.exitCode = 1
}

function report(alone: readonly number[], beside: readonly number[]): void {
  for (const [answer, count] of [...answers].sort()) console.log(`${answer} (${count})`)
  const [p99, p99Beside] = [quantile(alone, P99), quantile(beside, P99)]
  const ratio = p99Beside / p99
  const isMet = ratio <= Number(values.ratio)
  if (!isMet) process.exitCode = 1
  console.log(
    `ordinary puts: p50 ${median(alone).toFixed(2)} ms alone, ${median(beside).toFixed(2)} ms beside ${values.clients} hostile clients; ` +
      `p99 ${p99.toFixed(2)} ms and ${p99Beside.toFixed(2)} ms: ${ratio.toFixed(2)}x of at most ${values.ratio}x, ${isMet ? 'met' : 'missed'} ` +
      `(${alone.length} and ${beside.length} puts)`,
  )
}
