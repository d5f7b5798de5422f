import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CHUNK_BYTES } from '../../../src/core/limits.ts'
import { previewText } from '../../../src/core/preview/preview.ts'
import { type CutChunk, Cutter } from '../../../src/core/view/chunker.ts'
import { planValue } from '../../../src/core/view/view.ts'
import { holds, texts } from '../../support/json.ts'

/** Cuts `value`, which arrives in pieces of the given sizes, in turn. */
function cut(
  value: Buffer,
  pieceBytes: readonly number[],
  {
    kind = 'text',
    chunkBytes = CHUNK_BYTES,
  }: { kind?: 'text' | 'binary'; chunkBytes?: number } = {},
): { readonly cutter: Cutter; readonly chunks: readonly CutChunk[] } {
  const cutter = new Cutter(kind, chunkBytes)
  const chunks: CutChunk[] = []
  let pos = 0
  for (let i = 0; pos < value.length; i++) {
    const end = pos + (pieceBytes[i % pieceBytes.length] as number)
    // A piece's memory is the socket's: it may change once it was taken.
    const piece = Buffer.from(value.subarray(pos, end))
    chunks.push(...cutter.push(piece))
    piece.fill(0xff)
    pos = end
  }
  chunks.push(...cutter.end())
  return { cutter, chunks }
}

const long = fc
  .array(fc.tuple(texts, fc.nat({ max: 40 })), { maxLength: 6 })
  .map((parts) => parts.map(([text, times]) => text.repeat(times)).join(''))
const pieces = fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 6 })
const chunkBytes = fc.integer({ min: 1, max: 80 })

describe('a value cut as it arrives', () => {
  it('has the chunks, the totals and the preview of the whole, wherever its pieces end', () => {
    holds(
      fc.property(long, pieces, chunkBytes, (text, pieceBytes, bytes) => {
        const value = Buffer.from(text)
        const { cutter, chunks } = cut(value, pieceBytes, { chunkBytes: bytes })
        const plan = planValue(
          value,
          { form: 'text', start: 0, end: value.length },
          { chunkBytes: bytes, chunkViewBytes: 1 },
        )
        expect(chunks).toEqual(
          plan.chunks.map(({ endByte, ...chunk }) => ({
            ...chunk,
            bytes: value.subarray(chunk.firstByte, endByte),
          })),
        )
        expect([cutter.kind, cutter.totalBytes, cutter.totals]).toEqual([
          'text',
          value.length,
          plan.view,
        ])
        const whole = { bytes: value.length, lines: plan.view.lines, head: value, tail: value }
        expect(previewText(cutter.excerpt)).toBe(previewText(whole))
      }),
      1_000,
    )
  })

  it('is a text when all of it is UTF-8, and else a binary, with every byte', () => {
    const broken = fc
      .tuple(long, fc.uint8Array({ maxLength: 8 }), fc.boolean(), fc.constantFrom('', 'é', '\n'))
      .map(([text, bytes, isSplit, end]) => {
        const start = Buffer.from(text)
        const kept = isSplit ? start.subarray(0, -1) : start
        return Buffer.concat([kept, bytes, Buffer.from(end)])
      })
    holds(
      fc.property(broken, pieces, chunkBytes, (value, pieceBytes, bytes) => {
        const { cutter, chunks } = cut(value, pieceBytes, { chunkBytes: bytes })
        expect(Buffer.concat(chunks.map((chunk) => chunk.bytes))).toEqual(value)
        expect(cutter.kind).toBe(isUtf8(value) ? 'text' : 'binary')
        if (!isUtf8(value)) expect(cutter.totals).toEqual({ chars: 0, lines: 0, bytes: 0 })
      }),
      1_000,
    )
  })

  it('is cut at even places when it is a binary', () => {
    const value = Buffer.from('€\r\n'.repeat(7))
    const { chunks } = cut(value, [3], { kind: 'binary', chunkBytes: 4 })
    expect(chunks.map(({ firstByte }) => firstByte)).toEqual([0, 4, 8, 12, 16, 20, 24, 28, 32])
    expect(chunks.every((chunk) => chunk.firstChar === 0)).toBe(true)
  })

  it('has chunks that are the whole of their memory, so that they can change threads', () => {
    const { chunks } = cut(Buffer.alloc(200_000, 'é'), [65_536])
    expect(chunks).toHaveLength(4)
    for (const { bytes } of chunks) expect(bytes.buffer.byteLength).toBe(bytes.length)
  })
})
