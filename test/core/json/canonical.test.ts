import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  canonicalJson,
  contentString,
  contentStringWithin,
} from '../../../src/core/json/canonical.ts'
import { parseJson } from '../../../src/core/json/scan.ts'
import {
  compact,
  type Doc,
  docs,
  gaps,
  holds,
  nested,
  spaced,
  wellFormedInside,
} from '../../support/json.ts'
import { isList, isObject, NumberToken, type Tree } from '../../tree.ts'
import { member, parseTree, sameText, toJson, vectors } from '../../vectors.ts'

const slice = (text: string) => parseJson(Buffer.from(text))

/** The same by way of a tree; names are ordered by their UTF-8. */
function canonicalTree(tree: Tree): string {
  if (isList(tree)) return `[${tree.map(canonicalTree).join(',')}]`
  if (isObject(tree)) {
    const members = [...tree]
      .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      .map(([name, value]) => `${JSON.stringify(name)}:${canonicalTree(value)}`)
    return `{${members.join(',')}}`
  }
  return tree instanceof NumberToken ? tree.text : JSON.stringify(tree)
}

const sources = fc
  .tuple(docs(wellFormedInside), gaps)
  .map(([doc, between]: [Doc, string[]]) => spaced(doc, between))

describe('the golden vectors', () => {
  it('of content_string are met', () => {
    const wrong = [...vectors('content_string')]
      .filter(({ input, expected }) => {
        return !sameText(expected, contentString(slice(toJson(member(input, 'value')))))
      })
      .map(({ name }) => name)
    expect(wrong).toEqual([])
  })
})

describe('canonical text', () => {
  it('is that of the document as a tree, with names in the order of their UTF-8', () => {
    holds(
      fc.property(sources, (source) => {
        expect(canonicalJson(slice(source))).toBe(canonicalTree(parseTree(source)))
      }),
    )
  })

  it('is its own canonical text', () => {
    holds(
      fc.property(sources, (source) => {
        const text = canonicalJson(slice(source))
        expect(canonicalJson(slice(text))).toBe(text)
      }),
    )
  })

  it.each([
    ['{"\\ud800\\udc00":1,"\uffff":2}', '{"\uffff":2,"\u{10000}":1}'],
    ['{"b":1,"a":2,"ab":3,"":4}', '{"":4,"a":2,"ab":3,"b":1}'],
    [
      '{"\\uE000":1,"\\uDC00":2,"\\uD800":3,"\ud7ff":4}',
      '{"\ud7ff":4,"\\ud800":3,"\\udc00":2,"\ue000":1}',
    ],
    ['{"a\\u0001":1,"a":2,"a!":3,"a\\"":4}', '{"a":2,"a\\u0001":1,"a!":3,"a\\"":4}'],
    ['{"10":1,"2":2}', '{"10":1,"2":2}'],
    ['{"z":1,"a":2,"z":[3]}', '{"a":2,"z":[3]}'],
    ['{"\\u0061":1,"a":2}', '{"a":2}'],
    ['{"__proto__":1,"constructor":{}}', '{"__proto__":1,"constructor":{}}'],
    ['[ 1.0 , 1e400, -0 , 12345678901234567890 ]', '[1.0,1e400,-0,12345678901234567890]'],
    ['"\\/\\u000a\\u001F\\u2028\\u00e9"', '"/\\n\\u001f\u2028é"'],
    ['["\\uD83D"]', '["\\ud83d"]'],
    ['{"\\uDE00":null}', '{"\\ude00":null}'],
    [' true ', 'true'],
  ])('of %s is %s', (source, text) => {
    expect(canonicalJson(slice(source))).toBe(text)
  })

  it('of objects with many names has them in order and each once', () => {
    const names = Array.from({ length: 500 }, (_, i) => `k${(i * 7919) % 250}`)
    const text = canonicalJson(slice(`{${names.map((name, i) => `"${name}":${i}`).join(',')}}`))
    const last = new Map(names.map((name, i) => [name, i]))
    const sorted = [...last].sort(([a], [b]) => (a < b ? -1 : 1))
    expect(text).toBe(`{${sorted.map(([name, i]) => `"${name}":${i}`).join(',')}}`)
    expect(canonicalJson(slice(text))).toBe(text)
  })

  it('has names in order in objects and arrays inside each other, however deep', () => {
    const source = `${'{"b":[0,1],"a":['.repeat(40)}{"b":1,"a":2}${']}'.repeat(40)}`
    expect(canonicalJson(slice(source))).toBe(canonicalTree(parseTree(source)))
  })

  it('is written in memory of a few times its size', () => {
    const value = slice(JSON.stringify(Array(100_000).fill({ name: 'x', id: 'a longer text' })))
    const before = process.memoryUsage().arrayBuffers
    expect(canonicalJson(value)).toHaveLength(value.end)
    const taken = process.memoryUsage().arrayBuffers - before
    expect(taken).toBeLessThan(8 * value.end)
  })

  it('is made for the deepest document too', () => {
    const deepest = spaced(nested({ members: [] }, 1023), [''])
    expect(canonicalJson(slice(deepest))).toBe(deepest)
  })
})

describe('names', () => {
  it('are ordered by code point', () => {
    const names = fc.string({ unit: 'binary', maxLength: 6 })
    const near = fc
      .array(fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'))
      .map((parts) => parts.join(''))
    holds(
      fc.property(fc.oneof(names, near), fc.oneof(names, near), (a, b) => {
        const text = canonicalJson(slice(`{${JSON.stringify(a)}:0,${JSON.stringify(b)}:0}`))
        const names = [...new Set([a, b])].sort((x, y) =>
          Buffer.compare(Buffer.from(x), Buffer.from(y)),
        )
        expect(text).toBe(`{${names.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`)
      }),
      1_000,
    )
  })
})

describe('content', () => {
  it('of a string is bare, each lone surrogate as U+FFFD', () => {
    expect(contentString(slice('"a\\n\\ud83d\\ude00\\ud83d"'))).toBe('a\n😀\ufffd')
    expect(contentString(slice('"\\u0000"'))).toBe('\0')
    expect(contentString(slice('["\\ud83d"]'))).toBe('["\\ud83d"]')
  })

  it('within a limit is the content when it has as many chars or fewer, and undefined otherwise', () => {
    holds(
      fc.property(sources, fc.nat({ max: 60 }), (source, limit) => {
        const value = slice(source)
        const whole = contentString(value)
        const chars = [...whole].length
        expect(contentStringWithin(value, chars)).toBe(whole)
        expect(contentStringWithin(value, chars - 1)).toBeUndefined()
        expect(contentStringWithin(value, limit)).toBe(chars <= limit ? whole : undefined)
      }),
      1_000,
    )
  })

  it.each([
    [`{"a":"${'x'.repeat(50)}","a":1}`, '{"a":1}'],
    [`{"a":1,"a":"${'x'.repeat(50)}"}`, undefined],
    [`{"a":1,"b":2,"a":"${'x'.repeat(50)}","c":3,"a":0}`, '{"a":0,"b":2,"c":3}'],
    [`{"a":["${'x'.repeat(50)}",[1]],"b":{"c":[2]},"\\u0061":0}`, '{"a":0,"b":{"c":[2]}}'],
    [`{"b":{"a":"${'x'.repeat(15)}","c":"${'y'.repeat(50)}"},"b":{"a":"z"}}`, '{"b":{"a":"z"}}'],
    [`{"a":{"b":"${'x'.repeat(50)}"},"c":{"a":1,"b":2}}`, undefined],
    [`{"${'k'.repeat(50)}":[],"a":{}}`, undefined],
  ])('within 25 chars of %s is %s, whatever a repeated key had before', (source, text) => {
    expect(contentStringWithin(slice(source), 25)).toBe(text)
  })

  it.each([
    ['far past the limit', `["${'x'.repeat(10_000_000)}"]`, 30_000],
    ['just past it', `["${'x'.repeat(10_000_000)}"]`, 9_000_000],
    [
      'past it, and a repeated key had more code points of more bytes before',
      `{"a":"${'é'.repeat(6_000_000)}","a":"${'x'.repeat(5_000_000)}"}`,
      30_000,
    ],
  ])('is not written when it is %s', (_, source, limit) => {
    const value = slice(source)
    const before = process.memoryUsage().arrayBuffers
    expect(contentStringWithin(value, limit)).toBeUndefined()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000)
  })

  // Each level was once read to its end before the next: 40 GB, far past the time a test has.
  it('of deep nesting takes time by its size', () => {
    const value = slice(compact(nested(`"${'x'.repeat(40_000_000)}"`, 1_000)))
    expect(contentStringWithin(value, 30_000)).toBeUndefined()
    expect(canonicalJson(value)).toHaveLength(40_002_002)
  })

  // Each level with a sibling once copied all below it: 80 GB, far past the time a test has.
  it.each([
    ['[0,', ']'],
    ['{"a":0,"b":', '}'],
  ])('of %s at every level takes time by its size as well', (open, close) => {
    const text = `${open.repeat(1_000)}"${'x'.repeat(40_000_000)}"${close.repeat(1_000)}`
    expect(canonicalJson(slice(text)) === text).toBe(true)
  })

  it('of members out of order at every level takes time by its size as well', () => {
    const text = `${'{"b":0,"a":'.repeat(1_000)}"${'x'.repeat(40_000_000)}"${'}'.repeat(1_000)}`
    const sorted = `${'{"a":'.repeat(1_000)}"${'x'.repeat(40_000_000)}"${',"b":0}'.repeat(1_000)}`
    expect(canonicalJson(slice(text)) === sorted).toBe(true)
  })

  // Brackets and commas were once not counted, so that any number of them was within the limit until it was written.
  it('of brackets alone is not written past the limit', () => {
    const tower = '['.repeat(1_000) + ']'.repeat(1_000)
    const value = slice(`[${Array(10_000).fill(tower).join(',')}]`)
    for (let n = 0; n < 20; n++) expect(contentStringWithin(value, 30_000)).toBeUndefined()
    expect(contentStringWithin(slice('[[],{},[[]]]'), 12)).toBe('[[],{},[[]]]')
    expect(contentStringWithin(slice('[[],{},[[]]]'), 11)).toBeUndefined()
  })

  it.each(['"😀😀"', '["😀😀😀😀😀😀😀😀"]', '{"😀":"😀"}', '[1,[2,[3]]]'])(
    'of %s is counted in code points',
    (s) => {
      const chars = [...contentString(slice(s))].length
      expect(contentStringWithin(slice(s), chars)).toBe(contentString(slice(s)))
      expect(contentStringWithin(slice(s), chars - 1)).toBeUndefined()
    },
  )
})
