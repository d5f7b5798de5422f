import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLedger } from '../../../../src/ledger/open.ts'
import { unallocatedRanges } from '../../../../src/ledger/sqlite/file/unallocated.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../../../support/ledger.ts'
import { filesWith } from '../../files.ts'

const PAGE_BYTES = 16_384
const WORD = 'zq-left-behind'
const RESULTS = 300

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'ledger.db')
  const ledger = await openLedger(path, POLICY)
  for (let n = 0; n < RESULTS; n += 10) {
    const puts = Array.from({ length: 10 }, (_, i) =>
      putText(`text ${n + i}`, { toolUseId: `id ${n + i}` }),
    )
    await Promise.all(puts.map((put) => ledger.append(RUN, put, NOW)))
  }
  await ledger.close()
})
afterEach(() => folder.remove())

/** Writes the word where a cell may have stood, in every page of a closed ledger that has room for it; how many. */
function leaveBehind(): number {
  const file = openSync(path, 'r+')
  const bytes = readFileSync(path)
  let pages = 0
  for (let at = PAGE_BYTES; at < bytes.length; at += PAGE_BYTES) {
    const kind = bytes.readUInt8(at)
    const [gap] = kind === 0 ? [] : (unallocatedRanges(bytes.subarray(at, at + PAGE_BYTES)) ?? [])
    if (gap === undefined || gap.end - gap.start < WORD.length) continue
    writeSync(file, WORD, at + gap.start)
    pages++
  }
  closeSync(file)
  return pages
}

function sql(text: string): unknown {
  const db = new Database(path)
  const answer = db.prepare(text)
  const got = answer.reader ? answer.pluck().get() : answer.run()
  db.close()
  return got
}

describe('a scrub that a process owed when it ended', () => {
  it('is done by the next one, without being asked for', async () => {
    expect(leaveBehind()).toBeGreaterThan(5)
    sql('INSERT INTO scrubs (key) VALUES (1)')
    const ledger = await openLedger(path, POLICY)
    while (filesWith(WORD, folder.path).length > 0) await setTimeout(20)
    // its end is noted with the next commit that waits for the disk
    await ledger.append(RUN, putText('after'), NOW)
    await ledger.close()
    expect(sql('SELECT count(*) FROM scrubs')).toBe(0)
    expect(sql('PRAGMA integrity_check')).toBe('ok')
  })

  it('is not looked for where none is owed', async () => {
    const pages = leaveBehind()
    const ledger = await openLedger(path, POLICY)
    await ledger.append(RUN, putText('after'), NOW)
    await ledger.close()
    expect(filesWith(WORD, folder.path)).toEqual(['ledger.db'])
    expect(pages).toBeGreaterThan(0)
  })
})

describe('the first purge of a process', () => {
  it('cleans pages that an earlier one has written', async () => {
    leaveBehind()
    const ledger = await openLedger(path, POLICY)
    await ledger.append({ tenant: '', run: 'other' }, putText('other'), NOW)
    const answer = await ledger.endRun({ tenant: '', run: 'other' }, { purge: true }, NOW)
    expect(answer).toEqual({ results: 1, keptBytes: 5, erased: 'done' })
    expect(filesWith(WORD, folder.path)).toEqual([])
    const { items } = await ledger.listResults(RUN, { limit: 1_000 })
    expect(items).toHaveLength(RESULTS)
    await ledger.close()
  })
})
