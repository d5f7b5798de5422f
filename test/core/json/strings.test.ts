import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { elementsOf, JsonSlice } from '../../../src/core/json/slice.ts'
import {
  decodeRaw,
  decodeText,
  encodeString,
  isNamed,
  TokenReader,
} from '../../../src/core/json/strings.ts'
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

describe('long string tokens', () => {
  it.each([60, 61, 62, 63, 64, 200])(
    'of %i bytes are decoded, with an escape anywhere',
    (length) => {
      const plain = 'x'.repeat(length)
      expect(decodeRaw(token(`"${plain}"`))).toBe(plain)
      for (const at of [0, 1, length - 2]) {
        const inside = `${plain.slice(0, at)}\\n${plain.slice(at + 2)}`
        expect(decodeRaw(token(`"${inside}"`))).toBe(JSON.parse(`"${inside}"`))
      }
    },
  )
})

describe('a token and a name', () => {
  it('agree when the name is what the token stands for, however it is written', () => {
    const spellings = [
      'a',
      '\\u0061',
      'b',
      '\\n',
      'é',
      '\\u00e9',
      '€',
      '😀',
      '\\ud83d\\ude00',
      '\\ud83d',
    ]
    const inside = fc.array(fc.constantFrom(...spellings), { maxLength: 3 })
    holds(
      fc.property(inside, inside, (a, b) => {
        const name = JSON.parse(`"${b.join('')}"`) as string
        const same = JSON.parse(`"${a.join('')}"`) === name
        expect(isNamed(token(`"${a.join('')}"`), name)).toBe(same)
      }),
      900,
    )
  })

  it.each([
    ['type', 'type', true],
    ['\\u0074\\u0079\\u0070\\u0065', 'type', true],
    ['types', 'type', false],
    ['typ', 'type', false],
    ['tape', 'type', false],
    ['', '', true],
    ['', 'a', false],
    ['a', '', false],
    ['\u0080', '\u0080', true],
    ['\u0080', '\u0081', false],
    ['\\u0061b', 'a', false],
  ])('"%s" stands for %j: %s', (inside, name, same) => {
    expect(isNamed(token(`"${inside}"`), name)).toBe(same)
  })
})

describe('a token that is plainly another name', () => {
  it.each([
    ['too short', '\\q', 'abc'],
    ['too long', `\\q${'x'.repeat(20)}`, 'abc'],
    ['different before its first escape', 'a\\q', 'bcd'],
  ])('is not decoded: %s', (_, inside, name) => {
    // it could not be
    const undecodable = new JsonSlice(Buffer.from(`"${inside}"`))
    expect(() => decodeRaw(undecodable)).toThrow()
    expect(isNamed(undecodable, name)).toBe(false)
  })
})

describe('a reader of tokens', () => {
  const read = (texts: readonly string[]): readonly string[] => {
    const document = parseJson(Buffer.from(JSON.stringify(texts)))
    const reader = new TokenReader(document.bytes)
    return [...elementsOf(document)].map((element) => reader.decode(element))
  }

  it('reads each as it is read alone, also where tokens are alike', () => {
    const few = fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), maxLength: 3 })
    holds(
      fc.property(fc.array(few, { maxLength: 200 }), (texts) => {
        expect(read(texts)).toEqual(texts)
      }),
    )
  })

  it('tells tokens of one hash apart, of one length or not', () => {
    // 'Aa' and 'BB' have one hash, and so has all that is made of them
    const texts = ['Aa', 'BB', 'Aa', 'AaAa', 'AaBB', 'BBAa', 'BBBB', 'BB']
    expect(read(texts)).toEqual(texts)
    const many = Array.from({ length: 3_000 }, (_, index) => `k${index}`)
    expect(read([...many, ...many])).toEqual([...many, ...many])
  })

  it('reads long ones too', () => {
    const long = ['x'.repeat(61), 'x'.repeat(62), 'x'.repeat(63), 'x'.repeat(64), 'x'.repeat(200)]
    expect(read([...long, ...long])).toEqual([...long, ...long])
  })

  it('reads most names once, however often they come', () => {
    const names = Array.from({ length: 20 }, (_, i) => `name ${i}`)
    const rows = names.flatMap((_, i) => [names.slice(i), names.slice(0, i)])
    const { bytes, ...document } = parseJson(Buffer.from(JSON.stringify(rows)))
    let reads = 0
    bytes.toString = (...range) => {
      reads++
      return Buffer.prototype.toString.apply(bytes, range)
    }
    const reader = new TokenReader(bytes)
    const decoded = [...elementsOf(new JsonSlice(bytes, document.start, document.end))].map((row) =>
      [...elementsOf(row)].map((element) => reader.decode(element)),
    )
    expect(decoded).toEqual(rows)
    expect(reads).toBeLessThan(3 * names.length)
  })
})
