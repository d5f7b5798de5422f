import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ledger, Result } from '../../../../src/ledger/ledger.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import {
  decodeChunk,
  encodeChunk,
  PLAIN,
  ZSTD,
} from '../../../../src/ledger/sqlite/rows/chunk-encoding.ts'
import {
  bytesOf,
  chunksOf,
  codeOf,
  NOW,
  POLICY,
  putBinary,
  putJson,
  putText,
  RUN,
  type TestPut,
  temporaryFolder,
} from '../../../support/ledger.ts'

const MARK = Buffer.from('here it begins')
const ZSTD_MAGIC = Buffer.from('28b52ffd', 'hex')
const COMPRESSIBLE = { incompressible: false }
const lines = (count: number): Buffer => Buffer.from('a line of a log\n'.repeat(count))
/** As noise is in a text: about 6 of 8 bits. */
const noise = (bytes: number): Buffer => Buffer.from(randomBytes(bytes).toString('base64'))

describe('the encoding of a chunk', () => {
  it.each([
    ['one that compresses', lines(4_000), ZSTD],
    ['one just large enough', lines(256), ZSTD],
    ['one just too small', lines(256).subarray(1), PLAIN],
    ['an empty one', Buffer.alloc(0), PLAIN],
    ['noise', randomBytes(65_536), PLAIN],
    ['one that saves a quarter', noise(48_000), ZSTD],
    ['one that saves a twelfth', Buffer.concat([randomBytes(60_000), lines(350)]), PLAIN],
  ])('takes %s as it pays, and gives it back', (_, bytes, encoding) => {
    const chunk = encodeChunk(bytes, COMPRESSIBLE)
    expect([chunk.encoding, chunk.length]).toEqual([encoding, bytes.length])
    expect(chunk.bytes.length).toBeLessThanOrEqual(
      encoding === ZSTD ? (bytes.length * 7) / 8 : bytes.length,
    )
    expect(decodeChunk(chunk).equals(bytes)).toBe(true)
  })

  it('leaves what is incompressible by its kind', () => {
    expect(encodeChunk(lines(4_000), { incompressible: true }).encoding).toBe(PLAIN)
  })

  it('a chunk that is not as it was kept is refused', () => {
    const chunk = encodeChunk(lines(4_000), COMPRESSIBLE)
    const { length, bytes } = chunk
    const flipped = Buffer.from(bytes)
    flipped[bytes.length - 1] = (bytes.at(-1) as number) ^ 1
    const spoilt = [
      { length: length + 1 },
      { length: length - 1 },
      { length: 0 },
      { length: -1 },
      { bytes: bytes.subarray(0, -1) },
      { bytes: bytes.subarray(0, 2) },
      { bytes: Buffer.alloc(0) },
      { bytes: lines(10) },
      { bytes: flipped },
      { checksum: chunk.checksum ^ 1 },
      { encoding: PLAIN },
      { encoding: 2 },
    ]
    for (const change of spoilt) {
      expect(() => decodeChunk({ ...chunk, ...change })).toThrowError(
        expect.objectContaining({ code: 'ledger_corrupt' }),
      )
    }
  })
})

describe('values that are compressed', () => {
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

  const keep = async (put: TestPut): Promise<Result> => (await ledger.append(RUN, put, NOW)).result
  const edit = (sql: string): void => {
    const db = new Database(path)
    db.exec(sql)
    db.close()
  }
  /** Of the chunks of a result, as another tool sees them. */
  function encodings(result: Result): unknown[] {
    const db = new Database(path, { readonly: true })
    const query = db.prepare('SELECT DISTINCT encoding FROM chunks WHERE result = ?').pluck()
    const found = query.all(result.key)
    db.close()
    return found
  }

  it('come back with their bytes, of any kind, in one chunk or many, from any place', async () => {
    const json = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => ({ n, name: `row ${n}` })))
    const cases: readonly (readonly [TestPut, readonly number[]])[] = [
      [putText('tiny'), [PLAIN]],
      [putText(lines(2_000).toString()), [ZSTD]],
      [putText(lines(50_000).toString()), [ZSTD]],
      [putJson(json), [ZSTD]],
      [putText(`${lines(8_000)}${'\u{1f600}é\n'.repeat(40_000)}`), [ZSTD]],
      [putBinary(Buffer.from(lines(50_000))), [PLAIN]],
      [putBinary(randomBytes(300_000)), [PLAIN]],
    ]
    for (const [put, expected] of cases) {
      const bytes = Buffer.from(put.value)
      const result = await keep(put)
      expect(encodings(result)).toEqual(expected)
      expect((await bytesOf(ledger, result)).equals(bytes)).toBe(true)
      const byte = Math.floor(bytes.length / 2)
      const [first] = await chunksOf(ledger, result, { byte })
      const at = first?.firstByte ?? -1
      expect(at).toBe(put.plan.chunks.findLast(({ firstByte }) => firstByte <= byte)?.firstByte)
      expect(first?.bytes.equals(bytes.subarray(at, at + (first?.bytes.length ?? 0)))).toBe(true)
    }
  })

  it.each([
    ['as it is', putBinary(Buffer.concat([MARK, randomBytes(300_000)])), MARK],
    ['compressed', putText(lines(50_000).toString()), ZSTD_MAGIC],
  ])(
    'a byte that is spoilt in the file, of a chunk kept %s, is a corrupt ledger',
    async (_, put, mark) => {
      const spoilt = await keep(put)
      const whole = await keep(putText('whole'))
      await ledger.close()
      const file = readFileSync(path)
      const at = file.indexOf(mark) + mark.length + 9
      file[at] = (file[at] as number) ^ 1
      writeFileSync(path, file)
      ledger = await openLedger(path, POLICY)
      expect(await codeOf(bytesOf(ledger, spoilt))).toBe('ledger_corrupt')
      expect((await bytesOf(ledger, whole)).toString()).toBe('whole')
    },
  )

  it.each([
    ['a frame that is spoilt', `UPDATE chunks SET bytes = x'00112233' WHERE n = 1`],
    ['another checksum', 'UPDATE chunks SET checksum = checksum + 1 WHERE n = 1'],
    ['a wrong length', 'UPDATE chunks SET length = length - 1 WHERE n = 1'],
    ['an encoding of a later release', 'UPDATE chunks SET encoding = 7 WHERE n = 1'],
    ['bytes that are missing', 'UPDATE chunks SET encoding = 0 WHERE n = 1'],
  ])('%s on disk is a corrupt ledger, and other values can be read', async (_, sql) => {
    const spoilt = await keep(putText(lines(50_000).toString()))
    edit(sql)
    const whole = await keep(putText(lines(3_000).toString()))
    expect(await codeOf(bytesOf(ledger, spoilt))).toBe('ledger_corrupt')
    expect((await bytesOf(ledger, whole)).equals(lines(3_000))).toBe(true)
  })
})
