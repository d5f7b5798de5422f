// Pins R9: a purge leaves none of a run's words, its name included, in any file of the ledger's folder. SQLite's `secure_delete`
// alone left copies in pages that a balance of the tree had moved cells out of. The notes of commits kept the names of runs, and
// a log that had been put aside kept everything.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger, RunRef } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import {
  bytesOf,
  chunksIn,
  NOW,
  POLICY,
  putJson,
  putSentinel,
  putText,
  SECOND_MS,
  streamed,
  type TestPut,
  temporaryFolder,
} from '../support/ledger.ts'
import { type Random, seeded } from '../support/random.ts'
import { filesWith } from './files.ts'

const PURGES = 200
const LIVE_RUNS = 60
const SEED = 9

/** Begins each word of a run, and its name; no other text has it. */
const wordOf = (run: number): string => `zq${run.toString().padStart(4, '0')}-`

let folder: ReturnType<typeof temporaryFolder>
let path: string
let ledger: Ledger
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'ledger.db')
  ledger = await openLedger(path, POLICY)
})
afterEach(async () => {
  await ledger.close()
  folder.remove()
})

const refOf = (run: number): RunRef => ({ tenant: '', run: `${wordOf(run)}run` })

/** A put whose every text has the run's word in it. */
function putOf(run: number, n: number, random: Random): TestPut {
  const word = wordOf(run)
  const unique = `${word}${n}-${random.below(1_000_000)}`
  const changes: Partial<TestPut> = {
    toolUseId: random.below(4) === 0 ? '' : `${unique}${'i'.repeat(random.below(200))}`,
    idempotencyKey: random.below(3) === 0 ? `${unique}${'k'.repeat(random.below(200))}` : null,
    toolName: `${word}tool`,
    preview: `${unique}${'p'.repeat(random.below(2_000))}`,
    mediaType: `text/${word}`,
    content: { rendering: 'none' },
  }
  const kind = random.below(10)
  if (kind === 0)
    return putSentinel('failure', `${unique} failed`, { ...changes, failureKey: unique })
  if (kind === 1) return putText(`${unique}\n`.repeat(random.below(20_000) + 1), changes)
  if (kind < 5)
    return putJson(JSON.stringify({ [unique]: 'v'.repeat(random.below(3_000)) }), changes)
  return putText(`${unique} ${'t'.repeat(random.below(1_500))}`, changes)
}

async function fill(run: number, random: Random): Promise<void> {
  const ref = refOf(run)
  const tool = Buffer.from(`{"title":"${wordOf(run)}${'s'.repeat(random.below(3_000))}"}`)
  await ledger.openRun(ref, { tools: new Map([[`${wordOf(run)}tool`, tool]]) }, NOW)
  const puts = Array.from({ length: 1 + random.below(25) }, (_, n) => putOf(run, n, random))
  await Promise.all(
    puts.map(async (put) => {
      if (random.below(30) > 0) return ledger.append(ref, put, NOW)
      const upload = await ledger.openUpload(ref, NOW)
      await upload.add(chunksIn(put))
      return upload.finish(streamed(put), NOW)
    }),
  )
}

/** Fills runs, and purges random ones of them while others are filled; what each purge left. */
async function purgeMany(purges: number, random: Random): Promise<readonly string[]> {
  const live: number[] = []
  const left: string[] = []
  let runs = 0
  for (let purged = 0; purged < purges; purged++) {
    while (live.length < LIVE_RUNS) {
      live.push(runs)
      await fill(runs++, random)
    }
    const [run] = live.splice(random.below(live.length), 1) as [number]
    const next = runs++
    live.push(next)
    const [answer] = await Promise.all([
      ledger.endRun(refOf(run), { purge: true }, NOW),
      fill(next, random),
    ])
    expect(answer).toMatchObject({ erased: 'done' })
    for (const file of filesWith(wordOf(run), folder.path)) left.push(`${wordOf(run)} in ${file}`)
  }
  return left
}

describe('words of purged runs', () => {
  it(`are in no file after each of ${PURGES} purges of random runs among live ones`, async () => {
    const random = seeded(SEED)
    expect(await purgeMany(PURGES, random)).toEqual([])
    const check = new Database(path, { readonly: true })
    expect(check.pragma('integrity_check', { simple: true })).toBe('ok')
    check.close()
    const { items } = await ledger.listRuns('', { limit: 1_000 }, NOW)
    expect(items).toHaveLength(LIVE_RUNS)
    for (const { id, results } of items) {
      const page = await ledger.listResults({ tenant: '', run: id }, { limit: 100 })
      expect(page.items).toHaveLength(results)
      for (const result of page.items) {
        expect((await bytesOf(ledger, result)).length).toBe(result.totalBytes)
      }
    }
  }, 240_000)

  it('are not in what was put aside of a log that had been replaced', async () => {
    await fill(1, seeded(SEED))
    writeFileSync(`${path}-wal.replaced`, wordOf(1))
    writeFileSync(`${path}-wal.rescued`, wordOf(1))
    expect(await ledger.endRun(refOf(1), { purge: true }, NOW)).toMatchObject({ erased: 'done' })
    expect(filesWith(wordOf(1), folder.path)).toEqual([])
    expect(readdirSync(folder.path).sort()).toEqual(
      ['', '-commits', '-shm', '-wal', '.lock', '.lock-journal'].map((end) => `ledger.db${end}`),
    )
  })

  it('are in no file once the name of an evicted run has been forgotten', async () => {
    await fill(1, seeded(SEED))
    const { defaultTtlSeconds, retentionSeconds } = POLICY
    const evictedAt = NOW + (defaultTtlSeconds + retentionSeconds) * SECOND_MS + 1
    const forgottenAt = evictedAt + retentionSeconds * SECOND_MS
    await fill(2, seeded(SEED))
    await ledger.openRun(refOf(2), { ttlSeconds: 10 * (defaultTtlSeconds + retentionSeconds) }, NOW)
    while (await ledger.sweep(evictedAt));
    expect(filesWith(wordOf(1), folder.path)).not.toEqual([])
    while (await ledger.sweep(forgottenAt));
    expect(filesWith(wordOf(1), folder.path)).toEqual([])
    expect(filesWith(wordOf(2), folder.path)).not.toEqual([])
  })
})
