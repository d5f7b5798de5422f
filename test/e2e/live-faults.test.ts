// Faults that come while the service runs, and go: it stays alive, says what is wrong, and has lost nothing that it acknowledged.
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLedger } from '../../src/ledger/open.ts'
import type { RunAnswer } from '../../src/runs/lifecycle.ts'
import { expectSound, Kept, type Outcome, statusOf } from '../support/kept.ts'
import { POLICY, putText, temporaryFolder } from '../support/ledger.ts'
import { type ServiceChild, startChild } from '../support/service.ts'

const HOUR_MS = 3_600_000
const POLL_MS = 20
/** Nearly all that may wait to be committed, and what then has no room. */
const LARGE_BYTES = 67_000_000
const MORE = 'a line of a result\n'.repeat(60_000)

const CLOCK = new URL('preload/clock.ts', import.meta.url)
const YEAR_MS = 365 * 24 * HOUR_MS

let child: ServiceChild
beforeAll(async () => {
  child = await startChild({ preload: CLOCK })
})
afterAll(() => child.stop())

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${child.url}/metrics`)).text()
  return Number(new RegExp(`^coatcheck_${name} (.*)$`, 'm').exec(text)?.[1])
}

/** As an envelope, which is taken whole. Returns the code of its problem. */
async function putLarge({ path }: Kept): Promise<string> {
  const reply = await fetch(`${path}/results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ output: 'x'.repeat(LARGE_BYTES) }),
  })
  return ((await reply.json()) as { code: string }).code
}

/** Another process's writing transaction, for as long as `work` takes. */
async function whileLocked<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const db = new Database(child.ledger)
  try {
    db.exec('BEGIN EXCLUSIVE')
    return await work()
  } finally {
    db.close()
  }
}

describe('a ledger that another process has locked', () => {
  it('takes no puts, is not ready, goes on to be read, and recovers', async () => {
    const kept = new Kept(child.url, 'locked')
    await kept.put('before')
    await whileLocked(async () => {
      const refused = await Promise.all([kept.put('one'), kept.put('two'), kept.put('three')])
      expect(refused).toEqual(
        Array(3).fill({ status: 503, code: 'ledger_unavailable', retryAfter: '1' }),
      )
      await kept.expectAll()
      expect(await statusOf(`${child.url}/livez`)).toBe(200)
      expect(await statusOf(`${child.url}/readyz`)).toBe(503)
    })
    expect(await statusOf(`${child.url}/readyz`)).toBe(200)
    expect(await kept.put('after')).toMatchObject({ status: 201, handle: 'r2' })
    await kept.expectAll()
    expectSound(child.ledger)
  })

  // What waits is there for the second that the writer waits for the lock: a busy machine may need some tries to hit it.
  it('refuses what its queue has no room for, unread, while reads go on', async () => {
    const kept = new Kept(child.url, 'full')
    await kept.put('before')
    await whileLocked(async () => {
      let refused: Outcome | undefined
      for (let tries = 0; tries < 20 && refused?.code !== 'overloaded'; tries++) {
        let isAnswered = false
        const large = putLarge(kept).finally(() => {
          isAnswered = true
        })
        while (!isAnswered && (await metric('queued_bytes')) < LARGE_BYTES) await sleep(POLL_MS)
        refused = await kept.put(MORE)
        await kept.expectAll()
        expect(await large).toMatch(/^(?:ledger_unavailable|overloaded)$/)
      }
      expect(refused).toEqual({ status: 503, code: 'overloaded', retryAfter: '1' })
    })
    expect(await metric('queued_puts')).toBe(0)
    expect(await kept.put(MORE)).toMatchObject({ status: 201, handle: 'r2' })
    await kept.expectAll()
    expectSound(child.ledger)
  })
})

describe('a clock that jumps back', () => {
  const read = async (kept: Kept): Promise<RunAnswer> =>
    (await (await fetch(kept.path)).json()) as RunAnswer

  it('loses no result and no number, and ends no run early', async () => {
    const kept = new Kept(child.url, 'clock')
    await fetch(kept.path, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{"ttl_seconds": 600}',
    })
    await kept.put('before')
    const before = await read(kept)
    await child.tell(-HOUR_MS)
    expect(await kept.put('an hour earlier')).toMatchObject({ status: 201, handle: 'r2' })
    await kept.expectAll()
    expect(await read(kept)).toMatchObject({ state: 'open', created_at: before.created_at })
    await child.tell(0)
    expect(await kept.put('back again')).toMatchObject({ status: 201, handle: 'r3' })
    await kept.expectAll()
    expectSound(child.ledger)
  })

  it('is not what a start needs: what was written in the future is there', async () => {
    const kept = new Kept(child.url, 'future')
    await child.tell(HOUR_MS)
    await kept.put('in an hour')
    await child.tell(0)
    expect(await kept.put('now')).toMatchObject({ status: 201, handle: 'r2' })
    expect((await read(kept)).state).toBe('open')
    await kept.expectAll()
  })
})

const late = temporaryFolder()
afterAll(() => late.remove())

describe('a clock that jumps ahead', () => {
  // Fault: one that was wrong for a minute ended every run for good, and a put during it never expired.
  it('ends no run, dates no request ahead, and is told in log and metrics', async () => {
    const kept = new Kept(child.url, 'ahead')
    await kept.put('before')
    await child.tell(YEAR_MS)
    expect(await kept.put('a year ahead')).toMatchObject({ status: 201, handle: 'r2' })
    expect(await metric('clock_offset_seconds')).toBe(YEAR_MS / 1000)
    const run = (await (await fetch(kept.path)).json()) as RunAnswer
    expect(run.state).toBe('open')
    expect(Math.abs(Date.parse(run.last_request_at) - Date.now())).toBeLessThan(HOUR_MS)
    await child.tell(0)
    expect(await metric('clock_offset_seconds')).toBe(0)
    expect(child.output).toContain("the machine's clock has jumped 31536000 seconds ahead")
    await kept.expectAll()
  })

  it('is followed where no jump is held: a run stays expired when it is back', async () => {
    const env = { COATCHECK_CLOCK_HOLD_SECONDS: '0' }
    const follower = await startChild({ env, preload: CLOCK })
    try {
      const kept = new Kept(follower.url, 'expired')
      await kept.put('before')
      await follower.tell(24 * 8 * HOUR_MS)
      expect(await kept.put('too late')).toMatchObject({ status: 410, code: 'expired' })
      await kept.expectAll()
      await follower.tell(0)
      await kept.expectAll()
      expectSound(follower.ledger)
    } finally {
      await follower.stop()
    }
  })

  it('sweeps nothing after a start long after the last request, and says so', async () => {
    const env = { COATCHECK_LEDGER: join(late.path, 'late.db') }
    const ledger = await openLedger(env.COATCHECK_LEDGER, POLICY)
    await ledger.append({ tenant: '', run: 'late' }, putText('kept'), Date.now() - YEAR_MS)
    await ledger.close()
    const started = await startChild({ env })
    expect(await started.stop()).toEqual({ code: 0, signal: null })
    expect(started.output).toMatch(
      /clock is 3153600\d seconds after .*nothing is swept for 3600 seconds/,
    )
  })
})

describe('a ledger of which a part is spoilt', () => {
  const folder = temporaryFolder()
  afterAll(() => folder.remove())
  /** Takes several chunks, and half of its bytes on the disk. */
  const textOf = (n: number): string =>
    Array.from({ length: 3_000 }, (_, line) => hash('sha256', `${n} ${line}`)).join('\n')

  /** Overwrites a third of the pages that hold chunks. */
  function spoilChunks(path: string): void {
    const db = new Database(path, { readonly: true })
    const pages = db
      .prepare(`SELECT pageno FROM dbstat WHERE name = 'chunks' AND pagetype <> 'internal'`)
      .pluck()
      .all() as readonly number[]
    const pageBytes = db.pragma('page_size', { simple: true }) as number
    db.close()
    const bytes = readFileSync(path)
    for (const page of pages.slice(0, pages.length / 3)) {
      bytes.fill(0xa5, (page - 1) * pageBytes, page * pageBytes)
    }
    writeFileSync(path, bytes)
  }

  it('answers what is whole, says of the rest that it is corrupt, and goes on', async () => {
    const env = { COATCHECK_LEDGER: join(folder.path, 'ledger.db') }
    const whole = await startChild({ env })
    const kept = new Kept(whole.url, 'part')
    for (let n = 1; n <= 30; n++) await kept.put(textOf(n))
    await whole.stop()
    spoilChunks(env.COATCHECK_LEDGER)

    const spoilt = await startChild({ env })
    const read = (n: number) => fetch(`${spoilt.url}/v1/runs/part/results/r${n}/value`)
    const seen = { whole: 0, corrupt: 0 }
    for (let n = 1; n <= 30; n++) {
      const reply = await read(n)
      const text = await reply.text().catch(() => 'cut')
      if (reply.status === 200 && text === textOf(n)) seen.whole++
      else if (reply.status === 500 || text === 'cut') seen.corrupt++
      else expect(text).toBe('whole or refused')
    }
    expect(seen.whole).toBeGreaterThan(0)
    expect(seen.corrupt).toBeGreaterThan(0)
    expect(await statusOf(`${spoilt.url}/livez`)).toBe(200)
    expect(await spoilt.stop()).toEqual({ code: 0, signal: null })
  })
})
