import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  advanceChars,
  charsOf,
  clipHead,
  clipTail,
  countChars,
  countLines,
  firstChars,
  invalidUtf8At,
  lastChars,
  measureText,
  sumText,
} from '../../src/core/text.ts'
import { holds, linesOf, shifted, texts } from '../support/json.ts'

const placed = fc
  .tuple(texts, fc.nat({ max: 7 }))
  .map(([text, shift]) => ({ text, bytes: shifted(Buffer.from(text), shift) }))

const crlfsOf = (bytes: Buffer): number => sumText(bytes).crlfs

describe('counting', () => {
  it('chars and line ends are those of the text, wherever in memory it is', () => {
    holds(
      fc.property(placed, ({ text, bytes }) => {
        expect(measureText(bytes)).toEqual({
          chars: [...text].length,
          newlines: text.split('\n').length - 1,
        })
        expect(countChars(bytes)).toBe([...text].length)
        expect(countLines(bytes)).toBe(linesOf(text).length)
      }),
      1_000,
    )
  })

  it('a part is counted alone', () => {
    holds(
      fc.property(placed, fc.nat(), fc.nat(), ({ bytes }, a, b) => {
        const [start, end] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y)
        const part = bytes.subarray(start, end)
        const leads = [...part].filter((byte) => byte < 0x80 || byte >= 0xc0).length
        const newlines = [...part].filter((byte) => byte === 0x0a).length
        expect(measureText(bytes, start, end)).toEqual({ chars: leads, newlines })
      }),
      1_000,
    )
  })

  it('pairs of CR and LF are found wherever they are, and only whole ones', () => {
    const bytes = fc
      .tuple(
        fc.array(fc.constantFrom('\r', '\n', '\r\n', 'a', '\u0109', 'xyz'), { size: '+2' }),
        fc.nat({ max: 7 }),
      )
      .map(([parts, shift]) => shifted(Buffer.from(parts.join('')), shift))
    holds(
      fc.property(bytes, fc.nat(), fc.nat(), (bytes, a, b) => {
        const [start, end] = [a % (bytes.length + 1), b % (bytes.length + 1)].sort((x, y) => x - y)
        const part = bytes.subarray(start, end)
        expect(sumText(bytes, start, end).crlfs).toBe(part.toString().split('\r\n').length - 1)
      }),
      1_000,
    )
    for (const shift of [0, 1, 2, 3]) {
      expect(crlfsOf(shifted(Buffer.from('\r\n'.repeat(5_000)), shift))).toBe(5_000)
      expect(crlfsOf(shifted(Buffer.from(`\r${'a\n'.repeat(5_000)}`), shift))).toBe(0)
    }
  })

  it('sums of many words carry over nothing', () => {
    for (const [unit, chars, newlines] of [
      ['\n', 1, 1],
      ['😀', 1, 0],
      ['é\n', 2, 1],
    ] as const) {
      for (const shift of [0, 1, 2, 3]) {
        expect(measureText(shifted(Buffer.from(unit.repeat(5_000)), shift))).toEqual({
          chars: 5_000 * chars,
          newlines: 5_000 * newlines,
        })
      }
    }
  })

  it('no byte but the line feed is a line end', () => {
    for (let byte = 0; byte < 0x80; byte++) {
      const newlines = byte === 0x0a ? 16 : 0
      expect(measureText(Buffer.alloc(16, byte))).toEqual({ chars: 16, newlines })
      const between = Buffer.alloc(16, Buffer.from([0x0a, byte, byte, byte, byte]))
      expect(measureText(between).newlines).toBe(byte === 0x0a ? 16 : 4)
    }
  })

  it.each([
    ['', 0],
    ['\n', 1],
    ['a', 1],
    ['a\n', 1],
    ['a\nb', 2],
    ['a\r\nb\r\n', 2],
    ['a\rb', 1],
    ['a\n\n', 2],
    ['\u2028\u0085\v\f', 1],
  ])('%j has %i lines', (text, lines) => {
    expect(countLines(Buffer.from(text))).toBe(lines)
  })
})

describe('strings', () => {
  const units = fc
    .array(fc.constantFrom('a', 'é', '😀', '\ud83d', '\ude00', '\n'), { maxLength: 20 })
    .map((parts) => parts.join(''))

  it('are counted and cut by code points, a lone surrogate being one', () => {
    holds(
      fc.property(units, fc.nat({ max: 25 }), (text, count) => {
        const points = [...text]
        expect(charsOf(text)).toBe(points.length)
        expect(firstChars(text, count)).toBe(points.slice(0, count).join(''))
        expect(lastChars(text, count)).toBe(
          points.slice(Math.max(0, points.length - count)).join(''),
        )
      }),
      1_000,
    )
  })
})

describe('clipping', () => {
  it('keeps the longest start and end that fit and split no code point', () => {
    holds(
      fc.property(placed, fc.nat({ max: 80 }), ({ text, bytes }, budget) => {
        const fits = (part: string): boolean => Buffer.byteLength(part) <= budget
        const points = [...text]
        const heads = points.map((_, i) => points.slice(0, i + 1).join('')).filter(fits)
        const tails = points.map((_, i) => points.slice(i).join('')).filter(fits)
        expect(bytes.toString('utf8', 0, clipHead(bytes, budget))).toBe(heads.at(-1) ?? '')
        expect(clipHead(bytes, budget)).toBeLessThanOrEqual(bytes.length)
        expect(bytes.toString('utf8', clipTail(bytes, budget))).toBe(tails[0] ?? '')
      }),
    )
  })

  it('keeps no start of what has none', () => {
    expect(clipHead(Buffer.from([0x80, 0x80, 0x80]), 2)).toBe(0)
  })

  it('advances by whole code points and stops at the end', () => {
    holds(
      fc.property(placed, fc.nat({ max: 80 }), fc.nat(), ({ text, bytes }, chars, at) => {
        const points = [...text]
        const skipped = at % (points.length + 1)
        const start = Buffer.byteLength(points.slice(0, skipped).join(''))
        const until = Buffer.byteLength(points.slice(0, skipped + chars).join(''))
        expect(advanceChars(bytes, { start, chars })).toBe(until)
        const end = Buffer.byteLength(points.slice(0, skipped + 2).join(''))
        expect(advanceChars(bytes, { start, end, chars })).toBe(Math.min(until, end))
        expect(advanceChars(bytes, { chars: skipped })).toBe(start)
      }),
    )
  })
})

/** Where decoding fails, by the table of well-formed byte sequences. */
function firstBad(bytes: Uint8Array): number {
  const WELL_FORMED: readonly (readonly (readonly [number, number])[])[] = [
    [[0x00, 0x7f]],
    [[0xc2, 0xdf], TAIL],
    [[0xe0, 0xe0], [0xa0, 0xbf], TAIL],
    [[0xe1, 0xec], TAIL, TAIL],
    [[0xed, 0xed], [0x80, 0x9f], TAIL],
    [[0xee, 0xef], TAIL, TAIL],
    [[0xf0, 0xf0], [0x90, 0xbf], TAIL, TAIL],
    [[0xf1, 0xf3], TAIL, TAIL, TAIL],
    [[0xf4, 0xf4], [0x80, 0x8f], TAIL, TAIL],
  ]
  let pos = 0
  while (pos < bytes.length) {
    const shape = WELL_FORMED.find((ranges) =>
      ranges.every(([low, high], i) => {
        const byte = bytes[pos + i] ?? -1
        return byte >= low && byte <= high
      }),
    )
    if (shape === undefined) return pos
    pos += shape.length
  }
  return -1
}
const TAIL: readonly [number, number] = [0x80, 0xbf]

describe('invalid UTF-8', () => {
  const BAD: readonly (readonly [string, readonly number[]])[] = [
    ['a stray continuation', [0x80]],
    ['five continuations', [0xbf, 0xbf, 0xbf, 0xbf, 0xbf]],
    ['an overlong NUL', [0xc0, 0x80]],
    ['an overlong slash', [0xe0, 0x80, 0xaf]],
    ['an overlong of four', [0xf0, 0x80, 0x80, 0x80]],
    ['a high surrogate', [0xed, 0xa0, 0x80]],
    ['a pair of surrogates', [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]],
    ['past the last code point', [0xf4, 0x90, 0x80, 0x80]],
    ['a byte that never occurs', [0xff]],
    ['two of three bytes', [0xe2, 0x82]],
    ['three of four bytes', [0xf0, 0x9f, 0x98]],
    ['a lead without continuation', [0xc3]],
  ]

  it.each(BAD)('%s is found where it starts', (_, bad) => {
    for (const before of [
      '',
      'a',
      'é',
      '\u0800',
      '€',
      '\uffff',
      '😀',
      'ab😀',
      'x'.repeat(63),
      '😀'.repeat(1_000),
    ]) {
      for (const after of ['', 'a', 'é', '😀'.repeat(300), 'x'.repeat(5_000)]) {
        const bytes = Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from(after)])
        expect(invalidUtf8At(bytes)).toBe(Buffer.byteLength(before))
      }
    }
  })

  it('is found where a plain decoder finds it', () => {
    const parts = fc.constantFrom(
      ...['a', 'é', '€', '😀', 'x'.repeat(70)].map((text) => [...Buffer.from(text)]),
      ...BAD.map(([, bytes]) => [...bytes]),
    )
    const often = fc.array(parts, { maxLength: 8 }).map((list) => Buffer.from(list.flat()))
    const rare = fc.tuple(texts, fc.nat(), fc.nat({ max: 255 })).map(([text, at, byte]) => {
      const bytes = Buffer.from(`${text}${text}é${text}${text}`)
      bytes[at % bytes.length] = byte
      return bytes
    })
    holds(
      fc.property(fc.oneof(often, rare), (bytes) => {
        expect(invalidUtf8At(bytes)).toBe(firstBad(bytes))
      }),
      3_000,
    )
  })

  it('of a long run of continuations is found at once', () => {
    const run = Buffer.alloc(1_000_000, 0x80)
    expect(invalidUtf8At(run)).toBe(0)
    expect(invalidUtf8At(Buffer.concat([Buffer.from('é'), run]))).toBe(2)
  })

  it('is not seen in what is valid', () => {
    holds(
      fc.property(placed, ({ bytes }) => {
        expect(invalidUtf8At(bytes)).toBe(-1)
      }),
    )
  })
})
