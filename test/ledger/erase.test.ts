import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { NOW, POLICY, putText, RUN, SECOND_MS, temporaryFolder } from '../support/ledger.ts'
import { filesWith } from './files.ts'

const TOKEN = 'zq-secret-7f3a'
const LATER = NOW + (POLICY.defaultTtlSeconds + POLICY.retentionSeconds + 1) * SECOND_MS

describe('erasing', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  let ledger: Ledger
  beforeEach(async () => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
    ledger = await openLedger(path, POLICY)
    await fill()
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })

  /** Puts the token wherever a run can hold it, between the results of a run that stays. */
  async function fill(): Promise<void> {
    const other = { tenant: '', run: 'other' }
    await ledger.openRun(RUN, { tools: new Map([[TOKEN, Buffer.from(`"${TOKEN}"`)]]) }, NOW)
    for (let n = 0; n < 40; n++) {
      const put = putText(`${TOKEN} ${n}\n`.repeat(n % 5 === 0 ? 9_000 : 1), {
        toolUseId: `${TOKEN} ${n}`,
        idempotencyKey: `${TOKEN} ${n}`,
        toolName: TOKEN,
        preview: TOKEN,
        mediaType: `text/${TOKEN}`,
        content: { rendering: 'none' },
      })
      await Promise.all([
        ledger.append(RUN, put, NOW),
        ledger.append(other, putText(`kept ${n}`), LATER),
      ])
    }
  }

  const filesWithToken = (): readonly string[] => filesWith(TOKEN, folder.path)

  it('a purge leaves no bytes of the run in any file, and the file shrinks', async () => {
    expect(filesWithToken()).toContain('ledger.db-wal')
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(filesWithToken()).toEqual([])
    const reader = new Database(path, { readonly: true })
    expect(reader.pragma('freelist_count', { simple: true })).toBe(0)
    expect(reader.pragma('integrity_check', { simple: true })).toBe('ok')
    reader.close()
    await ledger.close()
    expect(filesWithToken()).toEqual([])
    ledger = await openLedger(path, POLICY)
    const { items } = await ledger.listResults({ tenant: '', run: 'other' }, { limit: 99 })
    expect(items).toHaveLength(40)
  })

  it('bytes that were in the main file before are gone too', async () => {
    await ledger.close()
    expect(filesWithToken()).toEqual(['ledger.db'])
    ledger = await openLedger(path, POLICY)
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(filesWithToken()).toEqual([])
  })

  it('a purge while another tool reads is finished by a sweep', async () => {
    const reader = new Database(path, { readonly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM results').get()
    expect(await ledger.endRun(RUN, { purge: true }, NOW)).toMatchObject({ erased: 'pending' })
    expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
    expect(filesWithToken()).not.toEqual([])
    expect(await ledger.endRun(RUN, { purge: true }, NOW)).toMatchObject({ erased: 'pending' })
    reader.exec('COMMIT')
    reader.close()
    while (await ledger.sweep(NOW));
    expect(filesWithToken()).toEqual([])
    expect(await ledger.endRun(RUN, { purge: true }, NOW)).toMatchObject({ erased: 'done' })
  })

  it('an eviction leaves no bytes of the run in any file', async () => {
    while (await ledger.sweep(LATER));
    expect(await ledger.findRun(RUN, LATER)).toMatchObject({ state: 'evicted', results: 40 })
    expect(filesWithToken()).toEqual([])
  })
})
