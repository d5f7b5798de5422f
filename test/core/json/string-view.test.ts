import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { measureString, measureStringPart } from '../../../src/core/json/string-view.ts'
import { holds, linesOf, shifted } from '../../support/json.ts'

/** What may not be split: CR LF, a pair of surrogates, an escape, a code point. */
const PIECE =
  /(?:\\r|\\u000[dD])(?:\\n|\\u000[aA])|\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u.{4}|\\.|./gsu

const parts = [
  'a',
  'é',
  '€',
  '😀',
  '\\n',
  '\\r',
  '\\u000a',
  '\\u000D',
  '\\r\\n',
  '\\"',
  '\\\\',
  '\\/',
]
const escapes = [
  '\\u0041',
  '\\u00e9',
  '\\u20AC',
  '\\ud83d\\ude00',
  '\\ud83d',
  '\\ude00',
  'plain text',
]
const borders = ['\\u007f', '\\u0080', '\\u07ff', '\\u0800', '\\uffff', '\\b', '\\f', '\\t']
const insides = fc
  .array(fc.constantFrom(...parts, ...escapes, ...borders), { maxLength: 20 })
  .map((list) => list.join(''))

const textOf = (inside: string): string => (JSON.parse(`"${inside}"`) as string).toWellFormed()

describe('a part of a string token', () => {
  it('ends at the first place at or after its target that splits nothing, and is measured', () => {
    holds(
      fc.property(insides, fc.nat({ max: 120 }), fc.nat({ max: 7 }), (inside, more, shift) => {
        const bytes = shifted(Buffer.from(`"${inside}"`), shift)
        const end = bytes.length - 1
        const target = Math.min(1 + more, end)
        let pos = 1
        for (const [piece] of inside.matchAll(PIECE)) {
          if (pos >= target) break
          pos += Buffer.byteLength(piece)
        }
        const text = textOf(bytes.toString('utf8', 1, pos))
        expect(measureStringPart(bytes, 1, target)).toEqual({
          pos,
          viewBytes: Buffer.byteLength(text),
          chars: [...text].length,
          newlines: text.split('\n').length - 1,
          crlfs: text.split('\r\n').length - 1,
          endsLine: text.endsWith('\n'),
        })
      }),
      900,
    )
  })
})

describe('a part that ends at a carriage return', () => {
  it.each([
    ['a line feed', '\\r\\n', 5],
    ['a line feed by its number', '\\r\\u000A', 9],
    ['another carriage return', '\\r\\r', 3],
    ['another short escape', '\\r\\t', 3],
    ['a character by its number', '\\r\\u000b', 3],
  ])('takes what follows if that is a line feed: %s', (_, inside, pos) => {
    expect(measureStringPart(Buffer.from(`"${inside}"`), 1, 3).pos).toBe(pos)
  })

  it('ends there when the string does, whatever follows the string', () => {
    for (const after of ['\n', '\\n', 'n']) {
      expect(measureStringPart(Buffer.from(`"\\r"${after}`), 1, 3).pos).toBe(3)
    }
  })
})

describe('the size of a string', () => {
  it('is that of its text', () => {
    holds(
      fc.property(insides, (inside) => {
        const text = textOf(inside)
        const token = parseJson(Buffer.from(` "${inside}" `))
        expect(measureString(token)).toEqual({
          bytes: Buffer.byteLength(text),
          lines: linesOf(text).length,
        })
      }),
    )
  })
})
