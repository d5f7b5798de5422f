import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { bytesOf, NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'
import { textOf } from './processes/text.ts'
import { startLimited, startProcess } from './processes.ts'

const ROUNDS = 5
/** A few MiB: less than the log takes before it is written back. */
const LIMIT_BLOCKS = 8_000
const TIMEOUT_MS = 60_000

const folder = temporaryFolder()
afterAll(() => folder.remove())

it(
  'a killed process has kept all it acknowledged, and numbering goes on without a gap',
  async () => {
    const path = join(folder.path, 'ledger.db')
    const acknowledged = new Map<number, number>()
    let last = 0
    for (let round = 0; round < ROUNDS; round++) {
      const child = startProcess('append', path, String((round + 1) * 1_000_000))
      await child.written('\n')
      // not seeded: a moment cannot be replayed
      await setTimeout(Math.random() * 150)
      for (const line of (await child.kill()).split('\n').slice(0, -1)) {
        const [number, n] = line.split(' ').map(Number) as [number, number]
        acknowledged.set(number, n)
      }
      const ledger = await openLedger(path, POLICY)
      last = await expectKept(ledger, acknowledged)
      const { result } = await ledger.append(RUN, putText(textOf(round)), NOW)
      expect(result.number).toBe(last + 1)
      acknowledged.set(result.number, round)
      await ledger.close()
    }
    expect(last).toBeGreaterThan(ROUNDS)
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
    expect(lines.pop()).toBe('failed ledger_unavailable')
    const ledger = await openLedger(path, POLICY)
    const last = await expectKept(
      ledger,
      new Map(lines.map((line) => line.split(' ').map(Number) as [number, number])),
    )
    expect(last).toBeGreaterThan(1)
    expect((await ledger.append(RUN, putText('after'), NOW)).result.number).toBe(last + 1)
    await ledger.close()
  },
  TIMEOUT_MS,
)

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
