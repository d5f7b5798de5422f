import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  approxTokens,
  compactSize,
  contentSize,
  estimateMessages,
  estimateText,
  messagesChars,
  trimBlank,
} from '../../../src/core/compaction/estimate.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import { JsonSlice } from '../../../src/core/json/slice.ts'
import { member, NumberToken, type Tree, text, vectors } from '../../vectors.ts'

const json = (source: string) => parseJson(Buffer.from(source))
const number = (tree: Tree) => Number(tree instanceof NumberToken && tree.text)

/** Messages of one text block each, as mentra spells them; given where the vector has the messages only. */
function upstreamJson(messages: Tree): string {
  const spelled = (messages as readonly Tree[]).map((message) => {
    const [block] = member(message, 'content') as readonly Tree[]
    const said = { text: text(member(block ?? null, 'text')) }
    return { role: text(member(message, 'role')), content: [{ Text: said }] }
  })
  return JSON.stringify(spelled)
}

describe('vectors of estimated_tokens', () => {
  it.each([...vectors('estimated_tokens')])('$name', ({ kind, input, expected }) => {
    if (kind !== 'request_upstream_shape') {
      expect(estimateText(text(member(input, 'text')))).toBe(number(expected))
      return
    }
    const system = member(input, 'system')
    const given = member(input, 'upstream_json')
    const upstream = given === null ? upstreamJson(member(input, 'messages')) : text(given)
    const messages = estimateMessages(json(upstream))
    expect(messages + estimateText(system === null ? '' : text(system))).toBe(number(expected))
  })
})

describe('compactSize', () => {
  it('is the size of compact JSON, however it is spelled', () => {
    const anyJson = fc.jsonValue({ stringUnit: 'binary' })
    fc.assert(
      fc.property(anyJson, fc.constantFrom(0, 2), (value, indent) => {
        const compact = JSON.stringify(value)
        const spelled = JSON.stringify(value, null, indent).replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
        const expected = { bytes: Buffer.byteLength(compact), chars: [...compact].length }
        expect(compactSize(json(spelled))).toEqual(expected)
      }),
      { seed: 2 },
    )
  })

  it('is that of every pair of escapes, at the borders of what they may stand for', () => {
    const borders = [
      [0, 0x08, 0x0b, 0x0d, 0x1f, 0x20, 0x22, 0x2f, 0x5c, 0x7f, 0x80, 0x7ff, 0x800],
      [0xd7ff, 0xd800, 0xdbff, 0xdc00, 0xdfff, 0xe000, 0xffff],
    ].flat()
    const escaped = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`
    const inside = borders.flatMap((a) => borders.map((b) => `${escaped(a)}${escaped(b)}`))
    // what follows half a pair may look like the other half without being an escape
    for (const text of [
      ...inside,
      '\\ud800\\udc00',
      '\\ud83dzzdc00',
      '\\ud83d\\ndc00',
      '\\ud83dzudc00',
    ]) {
      const compact = JSON.stringify(JSON.parse(`"${text}"`))
      const size = { bytes: Buffer.byteLength(compact), chars: [...compact].length }
      expect(compactSize(json(`"${text}"`)), text).toEqual(size)
      expect(messagesChars(json(`"${text}"`)), text).toBe(size.chars)
      const said = JSON.parse(compact) as string
      expect(contentSize(json(`"${text}"`)).bytes, text).toBe(Buffer.byteLength(said))
    }
  })

  it('measures a slice within a larger document', () => {
    const bytes = Buffer.from('["\\n", {"a" : "é\\/"} , "\\t"]')
    const start = bytes.indexOf('{')
    const slice = new JsonSlice(bytes, start, bytes.indexOf('}') + 1)
    expect(compactSize(slice)).toEqual({ bytes: 11, chars: 10 })
  })
})

describe('messages', () => {
  it('have as many characters as their compact JSON, by what the scan noted or by reading them', () => {
    const anyJson = fc.jsonValue({ stringUnit: 'binary' })
    fc.assert(
      fc.property(anyJson, fc.constantFrom(0, 2), (value, indent) => {
        const spelled = JSON.stringify([value, '\ud83d\ude00\n'], null, indent).replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
        )
        const messages = json(spelled)
        expect(messagesChars(messages)).toBe([...JSON.stringify([value, '\ud83d\ude00\n'])].length)
        const { bytes, start, end } = messages
        expect(messagesChars(new JsonSlice(bytes, start, end))).toBe(messagesChars(messages))
        expect(messagesChars(json(JSON.stringify([value, '\ud83d\ude00\n'])))).toBe(
          messagesChars(messages),
        )
      }),
      { seed: 12 },
    )
    expect(messagesChars(json('[{"a":1, "a":"é"}]'))).toBe('[{"a":1,"a":"é"}]'.length)
  })
})

describe('contentSize', () => {
  it('of a string are its text, whatever escapes it is spelled with', () => {
    const unit = fc.oneof(
      fc.nat({ max: 0xffff }),
      fc.integer({ min: 0xd7ff, max: 0xe000 }),
      fc.nat({ max: 0x100 }),
    )
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const escaped = units.map((one) => `\\u${one.toString(16).padStart(4, '0')}`).join('')
        const said = String.fromCharCode(...units)
        const spelled = json(`"${escaped}\\/\\"\\b"`)
        const compact = JSON.stringify(`${said}/"\b`)
        expect(contentSize(spelled).bytes).toBe(Buffer.byteLength(`${said}/"\b`))
        expect(compactSize(spelled)).toEqual({
          bytes: Buffer.byteLength(compact),
          chars: [...compact].length,
        })
      }),
      { seed: 8 },
    )
  })

  it.each([
    ['"é\\n"', 3],
    ['{ "k" : "x" }', 9],
    ['null', 0],
    ['12.0', 4],
  ])('of %s is %d', (source, bytes) => {
    expect(contentSize(json(source)).bytes).toBe(bytes)
  })

  it('has the code points of its compact JSON too', () => {
    expect(contentSize(json('"\\u00e9\\/\\u0001"')).compactChars).toBe([...'"é/\\u0001"'].length)
    expect(contentSize(json('{ "k" : "é" }')).compactChars).toBe([...'{"k":"é"}'].length)
    expect(contentSize(json(' null')).compactChars).toBe('null'.length)
  })
})

describe('white space', () => {
  it('is what Rust calls so: U+0085, not U+FEFF', () => {
    expect(approxTokens('a\u0085b c')).toBe(4)
    expect(approxTokens('a\ufeffb')).toBe(2)
    expect(trimBlank('\u0085\u00a0 a b\u3000\n')).toBe('a b')
    expect(trimBlank('\ufeff')).toBe('\ufeff')
    expect(trimBlank(' \n')).toBe('')
  })
})
