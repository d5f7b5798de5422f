import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CoatcheckError } from '../../../../src/core/errors.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import { openFile, openToRead } from '../../../../src/ledger/sqlite/file/file.ts'
import { openStore } from '../../../../src/ledger/sqlite/writer-thread/store.ts'
import { thrownBy } from '../../../support/errors.ts'
import { codeOf, NOW, POLICY, putText, RUN, temporaryFolder } from '../../../support/ledger.ts'
import { startProcess } from '../../processes.ts'

const PRAGMAS = {
  page_size: 16_384,
  auto_vacuum: 2,
  journal_mode: 'wal',
  synchronous: 2,
  secure_delete: 1,
  foreign_keys: 1,
}

describe('the file of a ledger', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let path: string
  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder.path, 'ledger.db')
  })
  afterEach(() => folder.remove())

  const create = async (): Promise<void> => (await openLedger(path, POLICY)).close()
  /** Opens the file as another tool would. */
  const edit = (sql: string): void => {
    const db = new Database(path)
    db.exec(sql)
    db.close()
  }
  /** What keeps the ledger from being opened: the same from its thread as in this one. */
  const refusalOf = async (location = path): Promise<unknown> => {
    const error = await openLedger(location, POLICY).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(CoatcheckError)
    if (location.includes('://')) return error
    const { code, message: detail, facts } = error as CoatcheckError
    expect(thrownBy(() => openStore(location, POLICY))).toEqual({ code, detail, facts })
    return error
  }

  // better-sqlite3 sets synchronous back to NORMAL on every file that is not new
  it('has the same pragmas when it is made and when it is opened again', () => {
    for (let opened = 0; opened < 3; opened++) {
      const file = openFile(path)
      for (const [name, value] of Object.entries(PRAGMAS)) {
        expect(file.db.pragma(name, { simple: true }), name).toBe(value)
      }
      file.close()
    }
  })

  it('is read by a connection that cannot write, and sees what the other has committed', () => {
    expect(() => openToRead(path)).toThrow()
    const file = openFile(path)
    const reader = openToRead(path)
    expect(reader.pragma('query_only', { simple: true })).toBe(1)
    expect(reader.pragma('journal_mode', { simple: true })).toBe('wal')
    const insert = `INSERT INTO tenants (tenant, runs) VALUES ('a', 1)`
    expect(() => reader.exec(insert)).toThrow(/readonly/)
    file.db.exec(insert)
    expect(reader.prepare('SELECT runs FROM tenants').pluck().get()).toBe(1)
    reader.close()
    file.close()
  })

  it('is not read where it was made with another page size', async () => {
    await create()
    edit('PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM')
    expect(() => openToRead(path)).toThrowError(
      expect.objectContaining({
        code: 'ledger_unavailable',
        message: expect.stringContaining('page_size 4096'),
      }),
    )
  })

  it('is made with the folders above it, from a path or a file URL', async () => {
    const nested = join(folder.path, 'a b', 'c', 'ledger.db')
    const ledger = await openLedger(pathToFileURL(nested).href, POLICY)
    await ledger.append(RUN, putText('abc'), NOW)
    await ledger.close()
    const again = await openLedger(nested, POLICY)
    expect(await again.findResult(RUN, { number: 1 })).toBeDefined()
    await again.close()
  })

  it('takes an empty file for a new one', async () => {
    writeFileSync(path, '')
    await create()
    expect(statSync(path).size).toBeGreaterThan(0)
  })

  it('finishes a creation that was cut short', async () => {
    edit('PRAGMA page_size = 16384; PRAGMA auto_vacuum = 2; PRAGMA application_id = 0x436f6174')
    await create()
    edit('SELECT key FROM results')
  })

  it.each([
    ['text', Buffer.from('not a database\n')],
    ['noise', Buffer.alloc(50_000, 'noise ')],
    ['a torn header', Buffer.from('SQLite format 3\0')],
  ])('refuses %s and leaves it as it is', async (_, bytes) => {
    writeFileSync(path, bytes)
    expect(await refusalOf()).toMatchObject({
      code: 'ledger_corrupt',
      message: `${path} is not a Coatcheck ledger and was left as it is; choose another path`,
    })
    expect(readFileSync(path).equals(bytes)).toBe(true)
  })

  it('refuses the database of another program and leaves it as it is', async () => {
    edit('CREATE TABLE theirs (a)')
    const before = readFileSync(path)
    expect(await refusalOf()).toMatchObject({ code: 'ledger_corrupt' })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('refuses a ledger of a later version', async () => {
    await create()
    edit('PRAGMA user_version = 99')
    expect(await refusalOf()).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('version 99'),
    })
  })

  it('refuses a ledger that was made with another page size', async () => {
    await create()
    edit('PRAGMA journal_mode = DELETE; PRAGMA page_size = 4096; VACUUM')
    expect(await refusalOf()).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('page_size 4096'),
    })
  })

  it('says where a ledger cannot be', async () => {
    writeFileSync(join(folder.path, 'file'), '')
    expect(await refusalOf(join(folder.path, 'file', 'ledger.db'))).toMatchObject({
      code: 'ledger_unavailable',
    })
    expect(await refusalOf(folder.path)).toMatchObject({ code: 'ledger_unavailable' })
    expect(await refusalOf('postgres://user:secret@host/db')).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.not.stringContaining('secret'),
    })
  })

  it('a spoilt page is reported as a corrupt ledger', async () => {
    const ledger = await openLedger(path, POLICY)
    for (let n = 0; n < 50; n++) await ledger.append(RUN, putText(`text ${n}`.repeat(500)), NOW)
    await ledger.close()
    const bytes = readFileSync(path)
    // past the first page, which holds the schema
    bytes.fill(0xa5, PRAGMAS.page_size)
    writeFileSync(path, bytes)
    expect(await codeOf(openLedger(path, POLICY))).toBe('ledger_corrupt')
    // the lock went with it
    expect(await codeOf(openLedger(path, POLICY))).toBe('ledger_corrupt')
  })

  it('is refused to a second process, and to a second opening under another name', async () => {
    const ledger = await openLedger(path, POLICY)
    const child = startProcess('hold', path)
    await child.written('\n')
    expect(await child.kill()).toContain(`the ledger ${path} is in use by another process`)
    const link = join(folder.path, 'link.db')
    symlinkSync(path, link)
    expect(await refusalOf(link)).toMatchObject({ code: 'ledger_unavailable' })
    await ledger.close()
    await create()
  })

  it('is free again when the process that had it is killed', async () => {
    const child = startProcess('hold', path)
    await child.written('open')
    expect(await refusalOf()).toMatchObject({ code: 'ledger_unavailable' })
    await child.kill()
    await create()
  })

  it('can be read by other tools beside the service', async () => {
    const ledger = await openLedger(path, POLICY)
    await ledger.append(RUN, putText('abc'), NOW)
    const reader = new Database(path, { readonly: true })
    const bytes = reader.prepare('SELECT bytes FROM chunks').pluck().all()
    expect(bytes).toEqual([Buffer.from('abc')])
    reader.close()
    await ledger.append(RUN, putText('def'), NOW)
    await ledger.close()
  })

  it('refuses a lock file that is something else', async () => {
    writeFileSync(`${path}.lock`, 'x'.repeat(5_000))
    expect(await refusalOf()).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('is not a lock file'),
    })
  })
})
