/**
 * Checks the answers of resolve on a machine that leaves the service little processor time. The
 * service has one core and a low priority, beside processes that only compute. No schema has a slow
 * pattern, so no call may be refused as too slow (422). A call must be answered, or refused for
 * lack of time (503). Prints the number of answers of each kind, and exits 1 for a 422.
 * `npm run check:starved`, by default with `--hogs 1 --nice 5 --clients 4 --seconds 30`.
 */

import { spawn } from 'node:child_process'
import { startChild } from '../../test/support/service.ts'
import { scriptOptions } from '../options.ts'
import { Client } from './client.ts'
import { median, quantile } from './statistics.ts'

const BLAMED = 422
const P99 = 0.99
const ON_ONE_CORE = ['taskset', '-c', '0']
const MS_PER_SECOND = 1000
/** Seconds that the computing processes live after the last request. */
const SPARE_SECONDS = 60
const ROWS = 20_000
const MEMBERS = 300

const { numbers: values } = scriptOptions({
  command: 'node scripts/check/starved.ts',
  does: 'Checks validation on a processor that other processes use.',
  numbers: {
    hogs: [1, 'processes that compute'],
    nice: [5, 'of the service'],
    clients: [4, 'how many'],
    seconds: [30, 'how long'],
  },
})
const seconds = values.seconds

const answers = new Map<string, number>()
const times: number[] = []
const child = await startChild({ wrapper: ['nice', '-n', String(values.nice), ...ON_ONE_CORE] })
const hogs = Array.from({ length: values.hogs }, startHog)
const client = new Client(child.url)
try {
  const untilMs = Date.now() + seconds * MS_PER_SECOND
  await Promise.all(Array.from({ length: values.clients }, (_, i) => ask(i, untilMs)))
} finally {
  client.close()
  for (const hog of hogs) hog.kill('SIGKILL')
  await child.stop()
}
report()

/** Starts a computing process. It ends by itself if this process is killed. */
function startHog() {
  const endsMs = (seconds + SPARE_SECONDS) * MS_PER_SECOND
  const code = `const end = Date.now() + ${endsMs}; while (Date.now() < end);`
  const [command = '', ...args] = [...ON_ONE_CORE, process.execPath, '-e', code]
  return spawn(command, args, { stdio: 'ignore' })
}

/** Makes a call that is quick on any machine. Each third schema is a new one. */
function callOf(n: number): string {
  const kinds = [
    () => ({ arguments: { n: 1 }, input_schema: { properties: wide(n) } }),
    () => ({
      arguments: `run-${n} of many`,
      input_schema: { type: 'string', pattern: '^run-[0-9]+ of [a-z]+$' },
    }),
    () => ({
      arguments: Array(ROWS).fill({ n: 1 }),
      input_schema: { items: { properties: { n: { type: 'integer' } } } },
    }),
  ]
  return JSON.stringify(kinds[n % kinds.length]?.())
}

function wide(n: number): object {
  return Object.fromEntries(
    Array.from({ length: MEMBERS }, (_, i) => [`m${n}_${i}`, { minimum: i }]),
  )
}

async function ask(first: number, untilMs: number): Promise<void> {
  const clients = values.clients
  for (let n = first; Date.now() < untilMs; n += clients) {
    const sent = { type: 'application/json', body: callOf(n) }
    const { status, body, ms } = await client.send('POST', '/v1/runs/starved/resolve', sent)
    const { code = '', limit = '' } = JSON.parse(body.toString()) as Record<string, string>
    const answer = `${status} ${code} ${limit}`.trim()
    answers.set(answer, (answers.get(answer) ?? 0) + 1)
    if (status === BLAMED) process.exitCode = 1
    times.push(ms)
  }
}

function report(): void {
  for (const [answer, count] of [...answers].sort()) console.log(`${answer} (${count})`)
  console.log(
    `${times.length} calls beside ${values.hogs} computing processes: p50 ${median(times).toFixed(0)} ms, p99 ${quantile(times, P99).toFixed(0)} ms; ` +
      `${process.exitCode === 1 ? 'calls were blamed: missed' : 'no call was blamed: met'}`,
  )
}
