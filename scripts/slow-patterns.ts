/**
 * Sends patterns that backtrack to a service that it starts, each with the text that makes it slow:
 * `node scripts/slow-patterns.ts FILE`, or a folder with such files. A line of a file is
 * `{"pattern", "attack"}` as JSON. Prints the times of the answers beside the deadline, and the
 * times of `/livez` meanwhile. Exits 1 when either was too long. Does nothing without the file.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import { startService } from '../src/service.ts'
import { scriptOptions } from './options.ts'

const EXTENSION = '.jsonl'
const OVER_DEADLINE_MS = 100
const LIVEZ_P99_MS = 50
const LIVEZ_EVERY_MS = 10

interface Attack {
  readonly pattern: string
  readonly attack: string
}

const { files } = scriptOptions({
  command: 'node scripts/slow-patterns.ts FILE',
  does: 'Sends patterns that backtrack, and measures how they affect other requests.',
  files: true,
})

const path = files[0] ?? ''
if (path === '' || !existsSync(path)) console.log('no patterns there: skipped')
else process.exitCode = await attackWith(attacksIn(path))

function attacksIn(from: string): readonly Attack[] {
  const files = statSync(from).isDirectory()
    ? readdirSync(from)
        .filter((name) => name.endsWith(EXTENSION))
        .map((name) => join(from, name))
    : [from]
  return files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Partial<Attack>]))
    .filter((line): line is Attack => line.pattern !== undefined && line.attack !== undefined)
}

async function attackWith(attacks: readonly Attack[]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'coatcheck-patterns-'))
  const config = readConfig({ COATCHECK_LEDGER: join(folder, 'ledger.db') })
  const service = await startService(config)
  try {
    const url = await service.app.listen({ host: '127.0.0.1', port: 0 })
    const stop = new AbortController()
    const polling = pollLivez(url, stop.signal)
    const answers: { readonly outcome: string; readonly ms: number }[] = []
    await resolve(url, { pattern: 'a', attack: 'a' })
    for (const attack of attacks) {
      const startedAt = performance.now()
      const outcome = await resolve(url, attack)
      answers.push({ outcome, ms: performance.now() - startedAt })
    }
    stop.abort()
    return verdict(answers, await polling, config.COATCHECK_VALIDATE_MS)
  } finally {
    await service.close()
    rmSync(folder, { recursive: true })
  }
}

async function resolve(url: string, { pattern, attack }: Attack): Promise<string> {
  const answer = await fetch(`${url}/v1/runs/patterns/resolve`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ arguments: attack, input_schema: { pattern } }),
  })
  const body = (await answer.json()) as { valid?: boolean; code?: string; limit?: string }
  return body.limit ?? body.code ?? `valid: ${body.valid}`
}

async function pollLivez(url: string, signal: AbortSignal): Promise<readonly number[]> {
  const times: number[] = []
  while (!signal.aborted) {
    const startedAt = performance.now()
    await (await fetch(`${url}/livez`)).arrayBuffer()
    times.push(performance.now() - startedAt)
    await sleep(LIVEZ_EVERY_MS)
  }
  return times
}

function verdict(
  answers: readonly { readonly outcome: string; readonly ms: number }[],
  livez: readonly number[],
  deadlineMs: number,
): number {
  const times = answers.map(({ ms }) => ms)
  const late = times.filter((ms) => ms > deadlineMs + OVER_DEADLINE_MS).length
  const outcomes = Object.entries(Object.groupBy(answers, ({ outcome }) => outcome))
  for (const [outcome, those] of outcomes) console.log(`${outcome}: ${those?.length}`)
  const p99 = share(livez, 0.99)
  console.log(
    `${answers.length} answers, ${late} later than ${deadlineMs} + ${OVER_DEADLINE_MS} ms; p50 ${share(times, 0.5)} ms, most ${share(times, 1)} ms`,
  )
  console.log(`/livez: p50 ${share(livez, 0.5)} ms, p99 ${p99} ms, of ${livez.length}`)
  return late === 0 && p99 < LIVEZ_P99_MS ? 0 : 1
}

function share(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(sorted[Math.ceil(sorted.length * part) - 1] ?? 0)
}
