import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { unallocatedRanges } from '../../../../src/ledger/sqlite/file/unallocated.ts'
import { temporaryFolder } from '../../../support/ledger.ts'
import { seeded } from '../../../support/random.ts'

const PAGE_BYTES = 4_096
const JUNK = 0xee

let folder: ReturnType<typeof temporaryFolder>
let path: string
beforeEach(() => {
  folder = temporaryFolder()
  path = join(folder.path, 'file.db')
})
afterEach(() => folder.remove())

/** A file of trees with pages of each kind, with free blocks; what is in it. */
function make(): unknown {
  const db = new Database(path)
  db.pragma(`page_size = ${PAGE_BYTES}`)
  db.exec(
    'CREATE TABLE t (key INTEGER PRIMARY KEY, name TEXT, bytes BLOB); CREATE INDEX i ON t (name)',
  )
  const random = seeded(1)
  const insert = db.prepare('INSERT INTO t (name, bytes) VALUES (?, ?)')
  for (let n = 0; n < 2_000; n++) {
    const name = `${random.below(1_000_000)}${'n'.repeat(random.below(150))}`
    insert.run(name, Buffer.alloc(random.below(n % 50 === 0 ? 20_000 : 300), 1))
  }
  db.exec('DELETE FROM t WHERE key % 3 = 0 OR key BETWEEN 500 AND 900')
  const rows = db.prepare('SELECT * FROM t ORDER BY key').all()
  db.close()
  return rows
}

function read(): unknown {
  const db = new Database(path)
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  const rows = db.prepare('SELECT * FROM t ORDER BY key').all()
  const byName = db.prepare('SELECT count(*) FROM t INDEXED BY i WHERE name >= ?').pluck().get('')
  expect(byName).toBe(rows.length)
  db.close()
  return rows
}

describe('unallocated bytes of a page', () => {
  it('mean nothing: whatever is written there, the file is sound and holds the same', () => {
    const rows = make()
    const file = readFileSync(path)
    const kinds = new Set<number>()
    let blocks = 0
    for (let at = PAGE_BYTES; at < file.length; at += PAGE_BYTES) {
      const page = file.subarray(at, at + PAGE_BYTES)
      // a page of overflowing bytes begins with the number of the next one, and is none of these
      const ranges = page.readUInt8(0) === 0 ? [] : unallocatedRanges(page)
      expect(ranges).toBeDefined()
      kinds.add(page.readUInt8(0))
      blocks += (ranges?.length ?? 1) - 1
      for (const { start, end } of ranges ?? []) page.fill(JUNK, start, end)
    }
    expect([...kinds].toSorted((a, b) => a - b)).toEqual([0, 2, 5, 10, 13])
    expect(blocks).toBeGreaterThan(50)
    writeFileSync(path, file)
    expect(read()).toEqual(rows)
  })

  it('are not told of a page that does not fit together', () => {
    make()
    const file = readFileSync(path)
    const start = [...Array(file.length / PAGE_BYTES).keys()].find(
      (n) =>
        n > 0 && file.readUInt8(n * PAGE_BYTES) === 13 && file.readUInt16BE(n * PAGE_BYTES + 1) > 0,
    ) as number
    const page = file.subarray(start * PAGE_BYTES, (start + 1) * PAGE_BYTES)
    expect(unallocatedRanges(page)).toBeDefined()
    const block = page.readUInt16BE(1)
    const spoilt: readonly ((copy: Buffer) => void)[] = [
      (copy) => copy.writeUInt8(12, 0),
      (copy) => copy.writeUInt16BE(3_000, 3),
      (copy) => copy.writeUInt16BE(4_097, 5),
      (copy) => copy.writeUInt16BE(4_096, 5),
      (copy) => copy.writeUInt16BE(4, 8),
      (copy) => copy.writeUInt16BE(4_096, 8),
      (copy) => copy.writeUInt16BE(block + 4, 8),
      (copy) => copy.writeUInt16BE(8, 1),
      (copy) => copy.writeUInt16BE(4_094, 1),
      (copy) => copy.writeUInt16BE(block, block),
      (copy) => copy.writeUInt16BE(2, block + 2),
      (copy) => copy.writeUInt16BE(4_096, block + 2),
    ]
    for (const spoil of spoilt) {
      const copy = Buffer.from(page)
      spoil(copy)
      expect(unallocatedRanges(copy), spoil.toString()).toBeUndefined()
    }
  })
})
