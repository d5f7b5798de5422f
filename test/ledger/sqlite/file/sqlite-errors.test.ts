import Database from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { CoatcheckError } from '../../../../src/core/errors.ts'
import {
  ledgerError,
  openError,
  saysCorrupt,
} from '../../../../src/ledger/sqlite/file/sqlite-errors.ts'

const codeOf = (error: unknown): unknown => (error instanceof CoatcheckError ? error.code : error)
const sqlite = (code: string): Error => new Database.SqliteError('it failed', code)
const system = (code: string): Error => Object.assign(new Error(code), { code, syscall: 'open' })

describe('a failure of SQLite', () => {
  // R2 4: read faults are no corruption, and a read-only disk is not a full one
  it.each([
    ['SQLITE_FULL', 'storage_full'],
    ['SQLITE_CORRUPT', 'ledger_corrupt'],
    ['SQLITE_CORRUPT_INDEX', 'ledger_corrupt'],
    ['SQLITE_NOTADB', 'ledger_corrupt'],
    ['SQLITE_BUSY', 'ledger_unavailable'],
    ['SQLITE_BUSY_SNAPSHOT', 'ledger_unavailable'],
    ['SQLITE_LOCKED', 'ledger_unavailable'],
    ['SQLITE_PROTOCOL', 'ledger_unavailable'],
    ['SQLITE_READONLY', 'ledger_unavailable'],
    ['SQLITE_READONLY_DBMOVED', 'ledger_unavailable'],
    ['SQLITE_READONLY_DIRECTORY', 'ledger_unavailable'],
    ['SQLITE_PERM', 'ledger_unavailable'],
    ['SQLITE_CANTOPEN', 'ledger_unavailable'],
    ['SQLITE_CANTOPEN_DIRTYWAL', 'ledger_unavailable'],
    ['SQLITE_NOMEM', 'ledger_unavailable'],
    ['SQLITE_IOERR', 'ledger_unavailable'],
    ['SQLITE_IOERR_READ', 'ledger_unavailable'],
    ['SQLITE_IOERR_SHORT_READ', 'ledger_unavailable'],
    ['SQLITE_IOERR_CORRUPTFS', 'ledger_unavailable'],
    ['SQLITE_IOERR_FSYNC', 'ledger_unavailable'],
    ['SQLITE_IOERR_TRUNCATE', 'ledger_unavailable'],
    ['SQLITE_IOERR_WRITE', 'ledger_unavailable'],
  ])('%s is %s where the disk has room', (code, expected) => {
    expect(codeOf(ledgerError(sqlite(code)))).toBe(expected)
  })

  it.each([
    'SQLITE_IOERR_WRITE',
    'SQLITE_IOERR_SHMSIZE',
    'SQLITE_IOERR_SHMMAP',
    'SQLITE_IOERR_SHMOPEN',
    'SQLITE_CANTOPEN',
  ])('%s is storage_full where the disk has none', (code) => {
    expect(codeOf(ledgerError(sqlite(code), () => true))).toBe('storage_full')
  })

  it('asks the disk only where SQLite does not say why', () => {
    const never = (): boolean => {
      throw new Error('asked')
    }
    for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_READ', 'SQLITE_IOERR_FSYNC', 'SQLITE_BUSY']) {
      expect(codeOf(ledgerError(sqlite(code), never))).not.toBeInstanceOf(Error)
    }
  })

  it.each([
    ['ENOSPC', 'storage_full'],
    ['EDQUOT', 'storage_full'],
    ['EFBIG', 'storage_full'],
    ['EROFS', 'ledger_unavailable'],
    ['EIO', 'ledger_unavailable'],
    ['EACCES', 'ledger_unavailable'],
  ])('of the system with %s is %s', (code, expected) => {
    expect(codeOf(ledgerError(system(code)))).toBe(expected)
  })

  it('leaves errors of the contract and bugs as they are', () => {
    for (const error of [
      new CoatcheckError('ended', 'x'),
      new TypeError('x'),
      sqlite('SQLITE_MISUSE'),
      'x',
    ]) {
      expect(ledgerError(error)).toBe(error)
    }
  })

  it('that says corrupt is told apart from a checksum that does not fit', () => {
    expect(saysCorrupt(ledgerError(sqlite('SQLITE_CORRUPT')))).toBe(true)
    expect(saysCorrupt(new CoatcheckError('ledger_corrupt', 'A chunk is damaged.'))).toBe(false)
    expect(saysCorrupt(ledgerError(sqlite('SQLITE_IOERR_READ')))).toBe(false)
  })

  it('at the start is called damage only where the file can be read', () => {
    const error = sqlite('SQLITE_CORRUPT')
    expect(openError(error, '/x.db')).toMatchObject({ code: 'ledger_corrupt' })
    expect(openError(error, '/x.db', { isReadable: () => false })).toMatchObject({
      code: 'ledger_unavailable',
      message: expect.stringContaining('/x.db cannot be opened'),
    })
  })
})
