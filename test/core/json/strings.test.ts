import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { decodeRaw, decodeText, encodeString } from '../../../src/core/json/strings.ts'
import { holds, stringInside } from '../../support/json.ts'

const token = (text: string) => parseJson(Buffer.from(` ${text} `))

describe('string tokens', () => {
  it('are decoded as written, lone surrogates kept or shown as U+FFFD', () => {
    holds(
      fc.property(stringInside, (inside) => {
        const text = JSON.parse(`"${inside}"`) as string
        expect(decodeRaw(token(`"${inside}"`))).toBe(text)
        expect(decodeText(token(`"${inside}"`))).toBe(text.toWellFormed())
      }),
    )
  })

  it('are written with the shortest escapes, and read back the same', () => {
    expect(encodeString('\b\t\n\f\r\u0001\u001f"\\/\u007f\u2028é😀\ud83d')).toBe(
      '"\\b\\t\\n\\f\\r\\u0001\\u001f\\"\\\\/\u007f\u2028é😀\\ud83d"',
    )
    holds(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(decodeRaw(token(encodeString(text)))).toBe(text)
      }),
    )
  })
})
