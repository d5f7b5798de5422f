// Where the chunks of a value stand: what is spoilt in the file is never a wrong answer.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ChunkSeek, Ledger, Result } from '../../../../src/ledger/ledger.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import {
  bytesOf,
  chunksIn,
  chunksOf,
  codeOf,
  NOW,
  POLICY,
  putText,
  RUN,
  streamed,
  temporaryFolder,
} from '../../../support/ledger.ts'

const TEXT = 'é a line\r\n'.repeat(60_000)
const SEEKS: readonly ChunkSeek[] = [0.3, 0.37, 0.5, 1].flatMap((part) => [
  { byte: Math.floor(part * Buffer.byteLength(TEXT)) },
  { char: Math.floor(part * TEXT.length) },
  { line: Math.floor(part * 60_000) },
])

let folder: ReturnType<typeof temporaryFolder>
let path: string
let ledger: Ledger
let whole: Result
let pieces: Result
beforeEach(async () => {
  folder = temporaryFolder()
  path = join(folder.path, 'ledger.db')
  ledger = await openLedger(path, POLICY)
  whole = (await ledger.append(RUN, putText(TEXT), NOW)).result
  const upload = await ledger.openUpload(RUN, NOW)
  const put = putText(TEXT)
  await upload.add(chunksIn(put))
  pieces = (await upload.finish(streamed(put), NOW)).result
})
afterEach(async () => {
  await ledger.close()
  folder.remove()
})

async function edit(sql: string): Promise<void> {
  await ledger.close()
  const db = new Database(path)
  db.exec(sql)
  db.close()
  ledger = await openLedger(path, POLICY)
}

/** What is read from a place: its bytes are those of the text, or there is none. */
async function read(result: Result, seek: ChunkSeek): Promise<'right' | 'ledger_corrupt'> {
  try {
    const chunks = await chunksOf(ledger, result, seek)
    const bytes = Buffer.concat(chunks.map((chunk) => chunk.bytes))
    const first = chunks[0]
    expect(Buffer.from(TEXT).subarray(first?.firstByte).equals(bytes)).toBe(true)
    const before = Buffer.from(TEXT).subarray(0, first?.firstByte).toString()
    expect(first?.firstChar).toBe(before.length)
    expect([first?.firstLine, first?.firstCrlf]).toEqual([
      before.split('\n').length - 1,
      before.split('\r\n').length - 1,
    ])
    return 'right'
  } catch (error) {
    expect(error).toMatchObject({ code: 'ledger_corrupt' })
    return 'ledger_corrupt'
  }
}

const SPOILT = [
  ...['first_byte', 'first_line', 'first_crlf', 'first_char', 'state', 'length'].flatMap((column) =>
    [-1, 40_000].map((by) => `UPDATE chunks SET ${column} = ${column} + ${by} WHERE n = 4`),
  ),
  'UPDATE chunks SET first_byte = first_byte + 9 WHERE n > 2',
  'UPDATE chunks SET first_line = first_line + 9 WHERE n > 2',
  'UPDATE chunks SET first_char = first_char + 9',
  'UPDATE chunks SET n = n + 100 WHERE n = 4',
  'DELETE FROM chunks WHERE n = 4',
  'DELETE FROM chunks WHERE n > 7',
  'DELETE FROM chunks WHERE n = 0',
  'DELETE FROM chunks',
  'UPDATE results SET chunks = chunks - 1',
  'UPDATE results SET chunks = 1',
  'UPDATE results SET chunks = chunks + 1',
  'UPDATE chunks SET place_checksum = place_checksum + 1 WHERE n = 4',
]

describe('a value whose chunks are not where they were kept', () => {
  it.each(SPOILT)('is a corrupt ledger, and never a wrong answer: %s', async (sql) => {
    await edit(sql)
    for (const result of [whole, pieces]) {
      expect(await codeOf(bytesOf(ledger, result))).toBe('ledger_corrupt')
      for (const seek of SEEKS) await read(result, seek)
      expect(await codeOf(bytesOf(ledger, result))).toBe('ledger_corrupt')
    }
  })

  it('is right from any place where nothing is spoilt', async () => {
    for (const result of [whole, pieces]) {
      for (const seek of SEEKS) expect(await read(result, seek)).toBe('right')
    }
  })
})

describe('a ledger of the release before', () => {
  it('can be read and written, and what it can tell is told', async () => {
    await edit('UPDATE chunks SET place_checksum = NULL')
    for (const result of [whole, pieces]) {
      for (const seek of SEEKS) expect(await read(result, seek)).toBe('right')
    }
    const after = (await ledger.append(RUN, putText(TEXT), NOW)).result
    expect((await bytesOf(ledger, after)).toString()).toBe(TEXT)
    await edit('UPDATE chunks SET first_byte = first_byte + 100 WHERE n = 4')
    for (const result of [whole, after]) {
      for (const byte of [260_000, 265_000, 300_000]) {
        expect(await read(result, { byte })).toBe('ledger_corrupt')
      }
    }
  })

  it.each(['first_byte', 'first_line', 'first_crlf', 'first_char', 'state'])(
    'tells by itself that a value begins with nothing before it: %s',
    async (column) => {
      await edit(`UPDATE chunks SET place_checksum = NULL;
        UPDATE chunks SET ${column} = ${column} + 1 WHERE n = 0`)
      for (const result of [whole, pieces]) {
        for (const seek of [{ byte: 0 }, { byte: 9 }, { char: 0 }, { line: 1 }, { line: 2 }]) {
          expect(await read(result, seek)).toBe('ledger_corrupt')
        }
      }
    },
  )
})
