import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { bytesOf, NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'
import { filesWith } from './files.ts'
import { PURGED_RESULTS, textOf } from './processes/text.ts'
import { startLimited, startProcess } from './processes.ts'

const ROUNDS = 5
/** A few MiB: less than the log takes before it is written back. */
const LIMIT_BLOCKS = 8_000
const TIMEOUT_MS = 60_000

const folder = temporaryFolder()
afterAll(() => folder.remove())

it.each([
  ['append', 150],
  ['upload', 400],
] as const)(
  'a process killed while it does %s has kept all it acknowledged and nothing else, and numbering goes on without a gap',
  async (script, withinMs) => {
    const path = join(folder.path, `${script}.db`)
    const acknowledged = new Map<number, number>()
    let last = 0
    for (let round = 0; round < ROUNDS; round++) {
      const child = startProcess(script, path, String((round + 1) * 1_000_000))
      await child.written('\n')
      // not seeded: a moment cannot be replayed
      await setTimeout(Math.random() * withinMs)
      for (const line of (await child.kill()).split('\n').slice(0, -1)) {
        const [number, n] = line.split(' ').map(Number) as [number, number]
        acknowledged.set(number, n)
      }
      const ledger = await openLedger(path, POLICY)
      last = await expectKept(ledger, acknowledged)
      const { result } = await ledger.append(RUN, putText(textOf(round)), NOW)
      expect(result.number).toBe(last + 1)
      acknowledged.set(result.number, round)
      await nothingToErase(ledger)
      await ledger.close()
      expectClean(path)
    }
    expect(last).toBeGreaterThan(ROUNDS)
  },
  TIMEOUT_MS,
)

it(
  'a process killed while it purges leaves nothing of the run after the next start',
  async () => {
    const path = join(folder.path, 'purge.db')
    for (let round = 0; round < ROUNDS; round++) {
      const child = startProcess('purge', path)
      await child.written('purging\n')
      await setTimeout(Math.random() * 30)
      await child.kill()
      const ledger = await openLedger(path, POLICY)
      const run = await ledger.findRun(RUN, NOW)
      await nothingToErase(ledger)
      if (run === undefined) expect(filesWith('text 1', folder.path, 'purge.db')).toEqual([])
      // none of it, or all: the commit may not have been reached
      expect([undefined, PURGED_RESULTS]).toContain(run?.results)
      if (run !== undefined) await ledger.endRun(RUN, { purge: true }, NOW)
      const { result } = await ledger.append(RUN, putText('after'), NOW)
      expect(result.number).toBe((round + 1) * (PURGED_RESULTS + 1))
      await ledger.endRun(RUN, { purge: true }, NOW)
      await ledger.close()
      expect(expectClean(path)).toBe(0)
    }
  },
  TIMEOUT_MS,
)

it(
  'a process whose file may not grow fails a put, and has kept all it acknowledged before',
  async () => {
    const path = join(folder.path, 'limited.db')
    const child = startLimited(LIMIT_BLOCKS, 'append', path, '1')
    await child.written('failed')
    const lines = (await child.kill()).split('\n').slice(0, -1)
    expect(lines.pop()).toBe('failed storage_full')
    const ledger = await openLedger(path, POLICY)
    const last = await expectKept(
      ledger,
      new Map(lines.map((line) => line.split(' ').map(Number) as [number, number])),
    )
    expect(last).toBeGreaterThan(1)
    expect((await ledger.append(RUN, putText('after'), NOW)).result.number).toBe(last + 1)
    await ledger.close()
    expectClean(path)
  },
  TIMEOUT_MS,
)

/** What was left to be erased goes by itself; a purge, of whatever run, is answered after it. */
async function nothingToErase(ledger: Ledger): Promise<void> {
  await ledger.endRun({ tenant: '', run: 'none' }, { purge: true }, NOW)
}

/** The file of a closed ledger is sound and has no chunk but those of results; returns how many. */
function expectClean(path: string): number {
  const db = new Database(path, { readonly: true })
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() as number
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  expect(db.pragma('foreign_key_check')).toEqual([])
  expect(count('SELECT count(*) FROM uploads')).toBe(0)
  expect(count(`SELECT count(*) FROM runs WHERE state IN ('purging', 'evicting')`)).toBe(0)
  const chunks = count('SELECT count(*) FROM chunks')
  expect(chunks).toBe(count('SELECT coalesce(sum(chunks), 0) FROM results'))
  expect(count('SELECT count(*) FROM results JOIN chunks ON chunks.result = results.key')).toBe(
    chunks,
  )
  db.close()
  return chunks
}

/** Returns the last number. */
async function expectKept(
  ledger: Ledger,
  acknowledged: ReadonlyMap<number, number>,
): Promise<number> {
  for (const [number, n] of acknowledged) {
    const result = await ledger.findResult(RUN, { number })
    expect(result, `r${number}`).toBeDefined()
    if (result === undefined) continue
    expect((await bytesOf(ledger, result)).toString()).toBe(textOf(n))
    const recalled = await ledger.findResult(RUN, { recall: result.evidenceId })
    expect(recalled?.number).toBe(number)
  }
  const { items } = await ledger.listResults(RUN, { limit: 1_000_000 })
  expect(items.map(({ number }) => number)).toEqual(items.map((_, index) => index + 1))
  const run = await ledger.findRun(RUN, NOW)
  const keptBytes = items.reduce((sum, { totalBytes }) => sum + totalBytes, 0)
  expect(run).toMatchObject({ results: items.length, keptBytes })
  return items.length
}
