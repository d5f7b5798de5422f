import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../src/core/json/canonical.ts'
import { measureJson, measureObject } from '../../src/core/json/measure.ts'
import { parseJson } from '../../src/core/json/scan.ts'
import { distinctMembersOf } from '../../src/core/json/slice.ts'
import { previewJson, previewText } from '../../src/core/preview.ts'
import { countLines } from '../../src/core/text.ts'

/** A document as a tree: a number token stands in `{ token }`, an object is its list of members, repeated names included. */
type Doc =
  | string
  | { readonly token: string }
  | { readonly items: readonly Doc[] }
  | { readonly members: readonly (readonly [name: string, value: Doc])[] }

const OPTIONS = { seed: 813, numRuns: 250 }
const piece = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 5 }),
  fc.constantFrom(
    '\ud83d',
    '\udd25',
    '\n',
    '\r\n',
    '"',
    '\\',
    '\0',
    '\b',
    '/',
    '€',
    '🔥',
    'e\u0301',
    '\\u00',
  ),
  fc
    .tuple(
      fc.constantFrom('a', 'é', '🔥', '\n', '\\', '\ud800', '\u0001'),
      fc.integer({ min: 1, max: 260 }),
    )
    .map(([unit, times]) => unit.repeat(times)),
)
const string = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(''))
const name = fc.oneof(
  fc.constantFrom('a', 'b', '10', '2', '__proto__', 'constructor', '', 'é', '\ud800', '\n'),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const token = fc.constantFrom(
  '0',
  '-0.0',
  '1e400',
  '18446744073709551615',
  '1.0',
  'true',
  'false',
  'null',
)
const { doc } = fc.letrec<{ doc: Doc }>((tie) => ({
  doc: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    string,
    token.map((token) => ({ token })),
    fc.array(tie('doc'), { maxLength: 8 }).map((items) => ({ items })),
    fc.array(fc.tuple(name, tie('doc')), { maxLength: 30 }).map((members) => ({ members })),
  ),
}))

/** How strings and white space are spelled. */
interface Spelling {
  readonly string: (text: string) => string
  readonly space: string
}

const shortest: Spelling = { string: JSON.stringify, space: '' }
const longest: Spelling = {
  string: (text) =>
    `"${Array.from({ length: text.length }, (_, i) => hexEscape(text.charCodeAt(i))).join('')}"`,
  space: ' \t\r\n',
}
/** Escapes every other unit, so that pairs are never torn between escape and text. */
const mixed: Spelling = {
  string: (text) =>
    `"${Array.from(text, (char, i) => (i % 2 === 0 ? longest.string(char).slice(1, -1) : JSON.stringify(char).slice(1, -1))).join('')}"`,
  space: '\n',
}

const hexEscape = (unit: number): string => {
  const hex = unit.toString(16).padStart(4, '0')
  return `\\u${unit % 3 === 0 ? hex.toUpperCase() : hex}`
}

function spell(node: Doc, spelling: Spelling): string {
  const { string, space } = spelling
  if (typeof node === 'string') return string(node)
  if ('token' in node) return node.token
  const entries =
    'items' in node
      ? node.items.map((item) => spell(item, spelling))
      : node.members.map(
          ([name, value]) => `${string(name)}${space}:${space}${spell(value, spelling)}`,
        )
  const [open, close] = 'items' in node ? '[]' : '{}'
  return `${open}${space}${entries.join(`${space},${space}`)}${space}${close}`
}

const slice = (json: string) => parseJson(Buffer.from(json))

describe('previewJson', () => {
  it('answers the same for every spelling of a document', () => {
    fc.assert(
      fc.property(doc, (doc) => {
        const answer = previewJson(slice(spell(doc, shortest)))
        expect(previewJson(slice(spell(doc, longest)))).toBe(answer)
        expect(previewJson(slice(spell(doc, mixed)))).toBe(answer)
      }),
      OPTIONS,
    )
  })

  it('is well-formed and bounded while names are', () => {
    // 24 fields of 120 bytes, each byte a control of 5 characters, is the worst case
    fc.assert(
      fc.property(doc, (doc) => {
        const answer = previewJson(slice(spell(doc, mixed)))
        expect(answer.isWellFormed()).toBe(true)
        expect(answer.startsWith(' = ')).toBe(true)
        expect(Buffer.byteLength(answer)).toBeLessThan(24 * (120 * 5 + 100))
      }),
      OPTIONS,
    )
  })

  it('answers for a string what previewText answers for its view', () => {
    fc.assert(
      fc.property(string, (text) => {
        const view = Buffer.from(text.toWellFormed())
        const head = view.subarray(0, 600)
        const tail = view.subarray(Math.max(0, view.length - 200))
        const answer = previewText({ bytes: view.length, lines: countLines(view), head, tail })
        for (const spelling of [shortest, longest, mixed]) {
          expect(previewJson(slice(spell(text, spelling)))).toBe(answer)
        }
      }),
      OPTIONS,
    )
  })

  it('never looks outside the slice', () => {
    fc.assert(
      fc.property(doc, doc, (doc, other) => {
        const inner = spell(doc, shortest)
        const around = slice(`{"a":${spell(other, shortest)},"b":${inner},"c":"\\\\"}`)
        const member = distinctMembersOf(around).get('b')
        expect(member && previewJson(member.value)).toBe(previewJson(slice(inner)))
      }),
      { ...OPTIONS, numRuns: 100 },
    )
  })
})

describe('measureJson', () => {
  it('counts the bytes of canonical JSON', () => {
    fc.assert(
      fc.property(doc, (doc) => {
        const expected = Buffer.byteLength(canonicalJson(slice(spell(doc, shortest))))
        for (const spelling of [shortest, longest, mixed]) {
          expect(measureJson(slice(spell(doc, spelling))).bytes).toBe(expected)
        }
      }),
      OPTIONS,
    )
  })

  it('agrees with measureObject, and counts members as they are found', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, doc), { maxLength: 90 }), (members) => {
        const object = slice(spell({ members }, shortest))
        const { members: kept, ...measure } = measureObject(object, 3)
        expect(measure).toEqual(measureJson(object))
        const distinct = distinctMembersOf(object)
        expect(measure.size).toBe(distinct.size)
        expect([...kept.keys()]).toEqual([...distinct.keys()].slice(0, 3))
        for (const [name, { value, ...figures }] of kept) {
          expect(value.toString()).toBe(distinct.get(name)?.value.toString())
          expect(figures).toEqual(measureJson(value))
        }
      }),
      { ...OPTIONS, numRuns: 100 },
    )
  })

  it('counts a name once among more members than it compares in pairs', () => {
    const members = Array.from({ length: 200 }, (_, i) => `"k${i % 150}":${i}`).join(',')
    const json = `{"o":{${members}}}`
    const expected = Buffer.byteLength(canonicalJson(slice(json)))
    expect(measureJson(slice(json)).bytes).toBe(expected)
    expect(measureObject(slice(json), 1).members.get('o')?.size).toBe(150)
  })

  it('tells names of one hash apart', () => {
    // 31 * 'B' + 'B' is 31 * 'C' + '#'
    expect(measureJson(slice('[{"BB":1,"C#":22}]')).bytes).toBe(18)
  })
})
