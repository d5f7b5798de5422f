import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Put, Result } from '../../../src/ledger/ledger.ts'
import { bytesOf, chunksOf, putBinary, putJson, putText } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

export function valuesConform(open: Open): void {
  describe('values', () => {
    const subject = subjectOf(open)

    it('a value comes back with its bytes and chunks as planned, after a restart too', async () => {
      const puts = [
        putText(''),
        putText('a\0b\r\n\u2028'),
        putBinary(randomBytes(200_000)),
        putText('line\n'.repeat(60_000)),
        putJson(JSON.stringify(Array.from({ length: 30_000 }, (_, n) => ({ n })))),
      ]
      const values = puts.map(({ value }) => Buffer.from(value))
      for (const put of puts) await subject.keep(put)
      await subject.reopen()
      const { items } = await subject.ledger.listResults({ tenant: '', run: 'run-1' }, { limit: 9 })
      for (const [index, result] of items.entries())
        await expectAsPlanned({ ...(puts[index] as Put), value: values[index] as Buffer }, result)
    })

    it('a byte is in the chunk from which its seek starts', async () => {
      const put = putBinary(randomBytes(1_000_000))
      const result = await subject.keep(put)
      const starts = put.plan.chunks.map(({ firstByte }) => firstByte)
      for (const byte of [...starts, 1, 65_535, 70_000, 999_999]) {
        const [first] = await chunksOf(subject.ledger, result, { byte })
        const planned = put.plan.chunks.findLast(({ firstByte }) => firstByte <= byte)
        expect(first?.firstByte).toBe(planned?.firstByte)
      }
    })

    it('a char is in the chunk from which its seek starts', async () => {
      const put = putText('é\u{1f600}\n'.repeat(80_000))
      const result = await subject.keep(put)
      const starts = put.plan.chunks.map(({ firstChar }) => firstChar)
      for (const char of [...starts, 1, 30_000, 100_000, 239_999]) {
        const [first] = await chunksOf(subject.ledger, result, { char })
        const planned = put.plan.chunks.findLast(({ firstChar }) => firstChar <= char)
        expect(first?.firstByte).toBe(planned?.firstByte)
      }
    })

    it('a line starts in the chunk from which its seek starts, or right after it', async () => {
      const put = putText(
        `${'x'.repeat(300_000)}\n${'short\n'.repeat(40_000)}${'y'.repeat(200_000)}\nend`,
      )
      const result = await subject.keep(put)
      for (const line of [1, 2, 3, 20_000, 40_001, 40_002, 40_003]) {
        const [first] = await chunksOf(subject.ledger, result, { line })
        const planned = put.plan.chunks.findLast(({ firstLine }) => firstLine < line - 1)
        expect(first?.firstByte).toBe(planned?.firstByte ?? 0)
      }
    })

    it('a seek stays within its value', async () => {
      await subject.keep(putText('a\n'.repeat(100_000)))
      const middle = await subject.keep(putText('b\n'.repeat(100_000)))
      await subject.keep(putText('c\n'.repeat(100_000)))
      for (const seek of [{ byte: 0 }, { char: 199_999 }, { line: 100_000 }, { line: 1 }]) {
        for (const { bytes } of await chunksOf(subject.ledger, middle, seek)) {
          expect(bytes.includes('a') || bytes.includes('c')).toBe(false)
        }
      }
    })

    it('a value can be read while others are put', async () => {
      const put = putText('0123456789'.repeat(200_000))
      const value = Buffer.from(put.value)
      const result = await subject.keep(put)
      const parts: Buffer[] = []
      for await (const { bytes } of subject.ledger.chunks(result, { byte: 0 })) {
        parts.push(bytes)
        await subject.keep(putText('meanwhile'))
      }
      expect(Buffer.concat(parts).equals(value)).toBe(true)
    })

    async function expectAsPlanned(put: Put, result: Result): Promise<void> {
      expect((await bytesOf(subject.ledger, result)).equals(put.value)).toBe(true)
      const chunks = await chunksOf(subject.ledger, result)
      const places = chunks.map(({ bytes, ...place }) => ({
        ...place,
        endByte: place.firstByte + bytes.length,
      }))
      expect(places).toEqual(put.plan.chunks)
    }
  })
}
