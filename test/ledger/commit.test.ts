import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { Commit } from '../../src/ledger/sqlite/protocol/messages.ts'
import {
  bytesOf,
  codeOf,
  NOW,
  POLICY,
  putBinary,
  putText,
  RUN,
  temporaryFolder,
} from '../support/ledger.ts'
import { openInProcess } from './in-process.ts'

/** Of SQLite's write-ahead log. */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const PAGE_BYTES = 16_384

describe('commits', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  let db: Database.Database
  let ledger: Ledger
  let seen: Commit[]
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    seen = []
    const opened = await openInProcess(path, { onCommit: (commit) => seen.push(commit) })
    ledger = opened.ledger
    db = opened.db
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })

  const append = (text: string, toolUseId = '') =>
    ledger.append(RUN, putText(text, { toolUseId }), NOW)

  /** How many transactions the log holds: the frame that ends one says how large the file then is. */
  function commits(): number {
    const log = readFileSync(`${path}-wal`)
    let count = 0
    for (let at = LOG_HEADER_BYTES; at < log.length; at += FRAME_HEADER_BYTES + PAGE_BYTES) {
      if (log.readUInt32BE(at + 4) > 0) count++
    }
    return count
  }

  it('all appends of one turn are one transaction', async () => {
    await append('first')
    const before = commits()
    const appends = Array.from({ length: 50 }, (_, n) => append(`text ${n}`))
    const numbers = (await Promise.all(appends)).map(({ result }) => result.number)
    expect(commits()).toBe(before + 1)
    expect(numbers).toEqual(numbers.map((_, index) => index + 2))
    await append('next turn')
    expect(commits()).toBe(before + 2)
    expect(seen.map(({ puts }) => puts)).toEqual([1, 50, 1])
    expect(seen.every(({ seconds }) => seconds > 0 && seconds < 60)).toBe(true)
  })

  it('writes are done in the order in which they were asked for', async () => {
    const done = await Promise.all([
      append('a', 'x'),
      append('b', 'x'),
      ledger.endRun(RUN, { purge: true }, NOW),
      append('c', 'x'),
      ledger.endRun(RUN, { purge: false }, NOW),
      codeOf(append('d', 'x')),
    ])
    const [a, b, purged, c, ended, d] = done
    expect([a.result.evidenceId, b.result.evidenceId]).toEqual(['x', 'x~2'])
    expect(purged).toMatchObject({ results: 2, keptBytes: 2 })
    expect(c.result).toMatchObject({ number: 3, evidenceId: 'x' })
    expect(ended).toMatchObject({ results: 1, keptBytes: 1 })
    expect(d).toBe('ended')
  })

  it('a transaction that fails keeps none of its puts, and gives no number away', async () => {
    await append('before', 'x')
    const { run } = await ledger.openRun(RUN, {}, NOW)
    const pages = db.pragma('page_count', { simple: true }) as number
    db.pragma(`max_page_count = ${pages + 3}`)
    // noise, which takes all its room
    const large = randomBytes(1_000_000)
    const appendLarge = () =>
      ledger.append(RUN, putBinary(Buffer.from(large), { toolUseId: 'y' }), NOW)
    const failed = [append('small', 'x'), appendLarge(), append('small too')].map(codeOf)
    expect(await Promise.all(failed)).toEqual(['storage_full', 'storage_full', 'storage_full'])
    expect(seen).toHaveLength(1)
    expect(await ledger.findRun(RUN, NOW)).toEqual(run)
    expect(await ledger.findResult(RUN, { recall: 'y' })).toBeUndefined()

    // the puts of a commit before and after it, in the same turn, are kept
    const mixed = [
      append('fits', 'z'),
      ledger.openRun(RUN, {}, NOW),
      appendLarge(),
      append('fits too'),
      ledger.openRun(RUN, {}, NOW),
      append('fits as well'),
    ]
    expect(await Promise.all(mixed.map(codeOf))).toEqual([
      undefined,
      undefined,
      'storage_full',
      'storage_full',
      undefined,
      undefined,
    ])

    db.pragma(`max_page_count = ${pages + 1_000}`)
    const { result } = await append('small', 'x')
    expect([result.number, result.evidenceId]).toEqual([4, 'x~2'])
    const { result: kept } = await appendLarge()
    expect((await bytesOf(ledger, kept)).equals(large)).toBe(true)
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  })

  it('a put that fails by a fault of ours fails alone, and leaves nothing behind', async () => {
    const { result: first } = await append('first', 'x')
    db.exec(
      `CREATE TRIGGER fault BEFORE INSERT ON chunks WHEN new.length = 13
       BEGIN SELECT RAISE(ABORT, 'a fault'); END`,
    )
    const other = { tenant: '', run: 'run-2' }
    const appends = [
      append('second', 'x'),
      append('thirteen long', 'x'),
      append('third', 'x'),
      ledger.append(other, putText('thirteen long'), NOW),
      append('first', 'x'),
    ]
    const [second, fault, third, noRun, retried] = await Promise.allSettled(appends)
    expect([second, third]).toMatchObject([
      { value: { result: { number: 2, evidenceId: 'x~2' } } },
      { value: { result: { number: 3, evidenceId: 'x~3' } } },
    ])
    expect([fault, noRun]).toMatchObject([
      { reason: { code: 'internal_error' } },
      { reason: { code: 'internal_error' } },
    ])
    expect(retried).toMatchObject({ value: { retried: true, result: { key: first.key } } })
    expect(await ledger.findRun(RUN, NOW)).toMatchObject({ results: 3, keptBytes: 16 })
    expect(await ledger.findRun(other, NOW)).toBeUndefined()
    expect(seen.at(-1)).toMatchObject({ puts: 3 })
  })

  it('a put that is refused changes nothing of its run, nor of the puts around it', async () => {
    const late = NOW + 1_000
    const big = putBinary(Buffer.alloc(1_000))
    const opened = await openInProcess(join(folder.path, 'small.db'), {
      policy: { ...POLICY, maxBytesPerRun: 100 },
    })
    try {
      const outcomes = await Promise.allSettled([
        opened.ledger.append(RUN, big, NOW),
        opened.ledger.append(RUN, putText('fits'), NOW),
        opened.ledger.append(RUN, putBinary(Buffer.alloc(97)), late),
        opened.ledger.append(RUN, putText('fits too'), NOW + 1),
      ])
      expect(outcomes).toMatchObject([
        { reason: { code: 'over_limit' } },
        { value: { result: { number: 1 } } },
        { reason: { code: 'over_limit' } },
        { value: { result: { number: 2 } } },
      ])
      expect(await opened.ledger.findRun(RUN, late)).toMatchObject({
        createdAt: NOW,
        lastRequestAt: NOW + 1,
        keptBytes: 12,
      })
    } finally {
      await opened.ledger.close()
    }
  })

  it('a tool that holds the file makes writes fail, not hang, and reads go on', async () => {
    const { result } = await append('before')
    const tool = new Database(path)
    tool.exec('BEGIN IMMEDIATE')
    expect(await codeOf(append('meanwhile'))).toBe('ledger_unavailable')
    expect((await bytesOf(ledger, result)).toString()).toBe('before')
    tool.exec('ROLLBACK')
    tool.close()
    expect((await append('after')).result.number).toBe(2)
  })

  it('a touch is written with the next commit, and costs none of its own', async () => {
    await append('first')
    const before = commits()
    ledger.touch(RUN, NOW + 1)
    expect(commits()).toBe(before)
    await ledger.openRun({ tenant: '', run: 'run-2' }, {}, NOW)
    const stored = db.prepare('SELECT last_request_at FROM runs WHERE run = ?').pluck()
    expect(stored.get(RUN.run)).toBe(NOW + 1)
    db.prepare('UPDATE runs SET last_request_at = ?').run(NOW)
    await ledger.openRun({ tenant: '', run: 'run-3' }, {}, NOW)
    expect(stored.get(RUN.run)).toBe(NOW)
  })

  it('many touches are written before they are too many to hold', async () => {
    const runs = Array.from({ length: 10_000 }, (_, n) => ({ tenant: '', run: `run ${n}` }))
    for (let n = 0; n < runs.length; n += 4_000) {
      const some = runs.slice(n, n + 4_000)
      await Promise.all(some.map((ref) => ledger.append(ref, putText('x'), NOW)))
    }
    for (const ref of runs) ledger.touch(ref, NOW + 1)
    await ledger.ping()
    const stored = db.prepare('SELECT count(*) FROM runs WHERE last_request_at > ?').pluck()
    expect(stored.get(NOW)).toBe(runs.length)
  })

  it('seeks and look-ups go by an index', () => {
    const plans = [
      'SELECT n FROM chunks WHERE result = 1 AND n > 0 AND first_line < 9 ORDER BY first_line DESC, n DESC LIMIT 1',
      `SELECT * FROM results WHERE run = 1 AND tool_use_id = 'x' AND tool_use_id <> '' AND sha256 = x'00'`,
      `SELECT * FROM results WHERE run = 1 AND idempotency_key = 'x'`,
      `SELECT * FROM results WHERE run = 1 AND evidence_id = 'x'`,
      'SELECT * FROM results WHERE run = 1 AND number > 1 ORDER BY number LIMIT 1',
      `SELECT * FROM runs WHERE tenant = '' AND run > 'x' AND state <> 'purged' ORDER BY run LIMIT 1`,
      `SELECT key, state FROM runs WHERE state IN ('evicting', 'purging') ORDER BY state DESC, key LIMIT 1`,
    ]
    for (const sql of plans) {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as { detail: string }[]
      const plan = steps.map(({ detail }) => detail).join('; ')
      expect(plan).toMatch(/USING (COVERING )?INDEX/)
      expect(plan).not.toContain('TEMP B-TREE')
    }
  })
})
