import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger, Result, RunRef } from '../../../../src/ledger/ledger.ts'
import {
  bytesOf,
  chunksIn,
  codeOf,
  NOW,
  putBinary,
  putText,
  RUN,
  streamed,
  temporaryFolder,
} from '../../../support/ledger.ts'
import { openInProcess } from '../../in-process.ts'

const OTHER: RunRef = { tenant: '', run: 'other' }
const RESULTS = 1_500

describe('erasing in the background', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  let db: Database.Database
  let ledger: Ledger
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    await start()
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })

  async function start(): Promise<void> {
    const opened = await openInProcess(path)
    ledger = opened.ledger
    db = opened.db
  }
  async function fill(ref = RUN): Promise<readonly Result[]> {
    const puts = Array.from({ length: RESULTS }, (_, n) => putText(`text ${n}`))
    return (await Promise.all(puts.map((put) => ledger.append(ref, put, NOW)))).map(
      ({ result }) => result,
    )
  }
  const count = (sql: string): number => db.prepare<[], number>(sql).pluck().get() as number
  const chunks = () => count('SELECT count(*) FROM chunks')
  const freePages = () => db.pragma('freelist_count', { simple: true })

  it('a purged run is gone for all at once, and its rows while others write', async () => {
    const [first] = await fill()
    let isPurged = false
    const purged = ledger.endRun(RUN, { purge: true }, NOW).then((counts) => {
      isPurged = true
      return counts
    })
    const { result } = await ledger.append(OTHER, putText('meanwhile'), NOW)
    expect([isPurged, result.number]).toEqual([false, 1])
    expect(chunks()).toBeGreaterThan(1)
    expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
    expect(await codeOf(bytesOf(ledger, first as Result))).toBe('evicted')
    // the name is free, and has nothing of before
    const again = await ledger.append(RUN, putText('again'), NOW)
    expect(again.result).toMatchObject({ number: RESULTS + 1, evidenceId: `r${RESULTS + 1}` })
    expect(isPurged).toBe(false)
    expect(await purged).toMatchObject({ results: RESULTS })
    expect([chunks(), freePages()]).toEqual([2, 0])
    expect((await ledger.listResults(RUN, { limit: 9 })).items).toEqual([again.result])
    expect((await ledger.listRuns('', { limit: 9 }, NOW)).items).toHaveLength(2)
  })

  it('purges at the same time are all answered when their bytes are gone', async () => {
    const refs = Array.from({ length: 9 }, (_, n) => ({ tenant: '', run: `run ${n}` }))
    for (const ref of refs) await ledger.append(ref, putText('x'.repeat(200_000)), NOW)
    const purges = refs.map(async (ref, n) => {
      for (let turn = 0; turn < n; turn++) await setImmediate()
      await ledger.endRun(ref, { purge: true }, NOW)
    })
    await Promise.all(purges)
    expect([chunks(), freePages()]).toEqual([0, 0])
    expect(count(`SELECT count(*) FROM runs WHERE state <> 'purged'`)).toBe(0)
  })

  it('what fails is told, is purged all the same, and goes with a sweep', async () => {
    await fill()
    const tool = new Database(path)
    const purge = codeOf(ledger.endRun(RUN, { purge: true }, NOW))
    while ((await ledger.findRun(RUN, NOW)) !== undefined) await setImmediate()
    tool.exec('BEGIN IMMEDIATE')
    expect(await purge).toBe('ledger_unavailable')
    expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
    tool.exec('ROLLBACK')
    tool.close()
    expect(chunks()).toBeGreaterThan(0)
    while (await ledger.sweep(NOW));
    expect([chunks(), freePages()]).toEqual([0, 0])
  })

  it('a purge that was asked for is done before a close', async () => {
    await fill()
    const [counts] = await Promise.all([
      ledger.endRun(RUN, { purge: true }, NOW),
      ledger.append(OTHER, putText('kept'), NOW),
      ledger.close(),
    ])
    expect(counts.results).toBe(RESULTS)
    await start()
    expect([chunks(), freePages()]).toEqual([1, 0])
  })

  it('uploads that were given up, failed or left leave no rows and no free pages', async () => {
    const put = () => putBinary(Buffer.alloc(3_000_000, 'noise'))
    const opened = await Promise.all([1, 2, 3, 4].map(() => ledger.openUpload(RUN, NOW)))
    for (const upload of opened) await upload.add(chunksIn(put()))
    const [given, purged, retried, left] = opened
    await ledger.append(RUN, { ...put(), toolUseId: 'x' }, NOW)
    const same = { ...streamed(put()), toolUseId: 'x' }
    expect((await retried?.finish(same, NOW))?.retried).toBe(true)
    await given?.abort()
    expect(count('SELECT count(*) FROM uploads')).toBe(2)
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(await codeOf(purged?.finish(same, NOW) as Promise<unknown>)).toBe('ended')
    await left?.abort()
    expect([chunks(), count('SELECT count(*) FROM uploads'), freePages()]).toEqual([0, 0, 0])
  })

  it('all commits but those of pieces wait for the disk', async () => {
    const put = putText('line\n'.repeat(100_000))
    const upload = await ledger.openUpload(RUN, NOW)
    for (const chunk of chunksIn(put)) await upload.add([chunk])
    await upload.finish(streamed(put), NOW)
    expect(db.pragma('synchronous', { simple: true })).toBe(2)
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(db.pragma('synchronous', { simple: true })).toBe(2)
  })
})
