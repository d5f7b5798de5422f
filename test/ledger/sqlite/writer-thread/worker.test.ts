// The writer in its own thread, for real.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../../../src/ledger/ledger.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import { openWith } from '../../../../src/ledger/sqlite/open.ts'
import type { Commit, ToWriter } from '../../../../src/ledger/sqlite/protocol/messages.ts'
import { startThread, type WriterPort } from '../../../../src/ledger/sqlite/protocol/thread.ts'
import {
  bytesOf,
  codeOf,
  NOW,
  POLICY,
  putBinary,
  putText,
  RUN,
  temporaryFolder,
} from '../../../support/ledger.ts'
import { startProcess } from '../../processes.ts'

const MEBIBYTE = 1_048_576

describe('the thread that writes', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  let port: WriterPort
  let ledger: Ledger
  let commits: Commit[]
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    port = startThread({ path, policy: POLICY })
    commits = []
    const options = {
      onCommit: (commit: Commit) => void commits.push(commit),
      queue: { puts: 40, bytes: MEBIBYTE },
    }
    ledger = await openWith(port, { path, policy: POLICY, options })
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })

  const append = (text: string, toolUseId = '', now = NOW) =>
    ledger.append(RUN, putText(text, { toolUseId }), now)

  it('keeps the order of calls, and a read after an answer sees what was written', async () => {
    const calls: Promise<unknown>[] = []
    for (let n = 1; n <= 10; n++) {
      calls.push(append(`a ${n}`, `call ${n}`).then(({ result }) => result.number))
      if (n === 5) calls.push(ledger.endRun(RUN, { purge: true }, NOW))
    }
    expect(await Promise.all(calls)).toEqual([
      ...[1, 2, 3, 4, 5],
      { results: 5, keptBytes: 15, erased: 'done' },
      ...[6, 7, 8, 9, 10],
    ])
    for (let n = 0; n < 30; n++) {
      const { result } = await append(`b ${n}`)
      expect(await ledger.findResult(RUN, { number: result.number })).toEqual(result)
      expect((await ledger.findRun(RUN, NOW))?.results).toBe(n + 6)
      expect((await bytesOf(ledger, result)).toString()).toBe(`b ${n}`)
    }
    expect(commits.reduce((sum, { puts }) => sum + puts, 0)).toBe(40)
  })

  it('fails the puts of a commit that fails, each with the problem, and no others', async () => {
    await append('before', 'x')
    const tool = new Database(path)
    tool.exec('BEGIN IMMEDIATE')
    const failed = ['one', 'two', 'three'].map((text) => codeOf(append(text, 'x')))
    expect(await Promise.all(failed)).toEqual(failed.map(() => 'ledger_unavailable'))
    tool.exec('ROLLBACK')
    tool.close()
    const { result } = await append('after', 'x')
    expect([result.number, result.evidenceId]).toEqual([2, 'x~2'])
    expect((await ledger.listResults(RUN, { limit: 9 })).items).toHaveLength(2)
  })

  it('brings refusals back with their code, text and facts', async () => {
    await ledger.endRun(RUN, { purge: false }, NOW)
    await append('x')
    await ledger.endRun(RUN, { purge: false }, NOW)
    const refusal = await append('y').catch((error: unknown) => error)
    expect(refusal).toMatchObject({
      name: 'CoatcheckError',
      code: 'ended',
      message: expect.stringContaining('"run-1" was ended'),
      facts: {},
    })
    const later = NOW + (POLICY.defaultTtlSeconds + 1) * 1000
    await ledger.openRun({ tenant: '', run: 'run-2' }, {}, NOW)
    const expired = ledger.openRun({ tenant: '', run: 'run-2' }, {}, later)
    expect(await expired.catch((error: unknown) => error)).toMatchObject({
      code: 'expired',
      facts: { limit: 'ttl_seconds', value: POLICY.defaultTtlSeconds },
    })
  })

  it('takes a value that is most of its memory over, and copies what is less', async () => {
    const partOf = (bytes: number): Buffer => {
      const memory = randomBytes(bytes)
      return memory.subarray(memory.length - 200_000)
    }
    const values = [200_000, 200_003, 400_000, 400_001].map(partOf)
    const copies = values.map((value) => Buffer.from(value))
    const puts = values.map((value) => putBinary(value))
    for (const [n, put] of puts.entries()) {
      const { result } = await ledger.append(RUN, put, NOW)
      expect((await bytesOf(ledger, result)).equals(copies[n] as Buffer)).toBe(true)
    }
    expect(values.map((value) => value.length)).toEqual([0, 0, 0, 200_000])
    // what is gone cannot be kept as something else
    await expect(ledger.append(RUN, puts[0] as (typeof puts)[0], NOW)).rejects.toThrow(TypeError)
    expect((await ledger.findRun(RUN, NOW))?.results).toBe(4)
  })

  it('is not sent what is no part of a put', async () => {
    const uncloneable = { ...putText('abc'), json: () => undefined }
    const { result } = await ledger.append(RUN, uncloneable, NOW)
    expect(result.totalBytes).toBe(3)
  })

  it('refuses puts at once while too many wait, and takes them again after', async () => {
    const puts = Array.from({ length: 50 }, (_, n) => codeOf(append(`text ${n}`)))
    const codes = await Promise.all(puts)
    expect(codes.slice(0, 40)).toEqual(Array(40).fill(undefined))
    expect(codes.slice(40)).toEqual(Array(10).fill('overloaded'))
    const refused = Array.from({ length: 41 }, (_, n) => append(`more ${n}`)).at(-1)
    expect(await refused?.catch((error: unknown) => error)).toMatchObject({
      code: 'overloaded',
      facts: { limit: 'queued_puts', value: 40 },
    })
    await ledger.ping()
    expect((await append('again')).result.number).toBe(81)
  })

  it('refuses puts while too many bytes wait; one that is larger than that is taken alone', async () => {
    const large = 'x'.repeat(MEBIBYTE + 1)
    const half = 'y'.repeat(MEBIBYTE / 2)
    const codes = [large, 'small', half].map((text) => codeOf(append(text)))
    expect(await Promise.all(codes)).toEqual([undefined, 'overloaded', 'overloaded'])
    const fit = [half, half, 'one byte too many'].map((text) => codeOf(append(text)))
    expect(await Promise.all(fit)).toEqual([undefined, undefined, 'overloaded'])
    // what is no put waits for as long as it takes
    const [, run] = await Promise.all([append(large), ledger.openRun(RUN, {}, NOW)])
    expect(run.run.results).toBe(4)
  })

  it('gets what was touched with the next write, and at the end', async () => {
    await append('x')
    const other = { tenant: '', run: 'run-2' }
    await ledger.openRun(other, {}, NOW)
    ledger.touch(RUN, NOW + 5)
    // takes it along, and writes nothing
    await ledger.ping()
    expect(await ledger.findRun(RUN, NOW + 6)).toMatchObject({ lastRequestAt: NOW + 5 })
    expect(lastRequest(RUN.run)).toBe(NOW)
    await ledger.sweep(NOW + 6)
    expect(lastRequest(RUN.run)).toBe(NOW + 5)
    ledger.touch(other, NOW + 9)
    await ledger.close()
    expect(lastRequest(other.run)).toBe(NOW + 9)
  })

  it('decides by what was touched, although it is not written yet', async () => {
    await append('x')
    const late = NOW + (POLICY.defaultTtlSeconds - 1) * 1000
    ledger.touch(RUN, late)
    expect((await append('y', '', late + 2_000)).result.number).toBe(2)
  })

  it('keeps what was asked for before a close, and nothing after', async () => {
    const puts = Array.from({ length: 30 }, (_, n) => append(`text ${n}`))
    const closed = ledger.close()
    const late = codeOf(append('late'))
    await closed
    expect(await late).toBe('ledger_unavailable')
    expect((await Promise.all(puts)).map(({ result }) => result.number)).toEqual(
      puts.map((_, n) => n + 1),
    )
    ledger = await openLedger(path, POLICY)
    expect((await ledger.findRun(RUN, NOW))?.results).toBe(30)
  })

  it('a fault in it rejects what waits and what comes, and reads go on', async () => {
    const { result } = await append('kept')
    const waiting = [append('x'.repeat(MEBIBYTE / 2)), ledger.openRun(RUN, {}, NOW), ledger.ping()]
    port.post(null as unknown as ToWriter, [])
    const codes = await Promise.all([append('y'), ...waiting].map(codeOf))
    await port.gone()
    for (const code of codes) expect([undefined, 'ledger_unavailable']).toContain(code)
    const after = [append('z'), ledger.openRun(RUN, {}, NOW), ledger.sweep(NOW), ledger.ping()]
    expect(await Promise.all(after.map(codeOf))).toEqual(after.map(() => 'ledger_unavailable'))
    ledger.touch(RUN, NOW + 1)
    expect((await bytesOf(ledger, result)).toString()).toBe('kept')
    expect(await ledger.findRun(RUN, NOW)).toMatchObject({ state: 'open' })
    await ledger.close()
    // nothing of it is left, its lock neither
    ledger = await openLedger(path, POLICY)
    expect((await bytesOf(ledger, result)).toString()).toBe('kept')
  })

  it.each(['close', 'leave'])('does not keep a process that has nothing to do: %s', async (how) => {
    await ledger.close()
    const child = startProcess('end', path, how)
    expect(await child.ended()).toBe('20 kept\n')
    ledger = await openLedger(path, POLICY)
    expect((await ledger.findRun(RUN, NOW))?.results).toBe(20)
  })

  /** As another tool sees it. */
  function lastRequest(run: string): unknown {
    const db = new Database(path, { readonly: true })
    const found = db.prepare('SELECT last_request_at FROM runs WHERE run = ?').pluck().get(run)
    db.close()
    return found
  }
})
