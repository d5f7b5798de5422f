import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/core/json/canonical.ts'
import { outlineOf, parseJson } from '../../../src/core/json/scan.ts'
import { distinctMembersOf, membersOf } from '../../../src/core/json/slice.ts'
import { previewJson, previewText } from '../../../src/core/preview/preview.ts'
import { countLines } from '../../../src/core/text.ts'

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

const compactBytes = (json: string): number => outlineOf(slice(json)).compactBytes

describe('an outline', () => {
  it('counts the bytes of canonical JSON', () => {
    fc.assert(
      fc.property(doc, (doc) => {
        const expected = Buffer.byteLength(canonicalJson(slice(spell(doc, shortest))))
        for (const spelling of [shortest, longest, mixed]) {
          expect(compactBytes(spell(doc, spelling))).toBe(expected)
        }
      }),
      OPTIONS,
    )
  })

  it('tells the same of a value inside another as of the value alone', () => {
    fc.assert(
      fc.property(doc, doc, (doc, other) => {
        const inner = spell(doc, mixed)
        const bytes = Buffer.from(`{"a":${spell(other, longest)} , "b" : ${inner}\n,"c":"\\\\"}`)
        const around = parseJson(bytes, undefined, 'entries')
        const member = [...membersOf(around)][1]?.value
        expect(member?.toString()).toBe(inner)
        expect(member?.outline).toEqual(outlineOf(slice(inner)))
        expect(member?.alone().outline).toEqual(member?.outline)
        expect(around.outline).toBeUndefined()
      }),
      OPTIONS,
    )
  })

  it('knows its first and last entries, and counts members as they are found', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(name, doc), { maxLength: 90 }), (members) => {
        const object = slice(` ${spell({ members }, mixed)}`)
        const { head, tail, entries, size, hasRepeats } = outlineOf(object)
        const all = [...membersOf(object)].map(({ key, value }) => ({
          start: key.start - object.start,
          valueStart: value.start - object.start,
          end: value.end - object.start,
          size: value.kind === 'array' || value.kind === 'object' ? outlineOf(value).size : 0,
        }))
        expect(head).toEqual(all.slice(0, 32))
        expect(tail).toEqual(all.slice(-2))
        expect(entries).toBe(all.length)
        expect(size).toBe(distinctMembersOf(object).size)
        if (size < entries) expect(hasRepeats).toBe(true)
      }),
      { ...OPTIONS, numRuns: 100 },
    )
  })

  it.each([2, 8, 9, 64, 200, 5_000])('counts a name once among %i members', (count) => {
    const step = Math.ceil((count * 3) / 4)
    const members = Array.from({ length: count }, (_, i) => `"k${i % step}":[${i}]`).join(' , ')
    const json = `{"o":{${members}},"p":{"x":{${members}},"x":1}}`
    const { compactBytes, head } = outlineOf(slice(json))
    expect(compactBytes).toBe(Buffer.byteLength(canonicalJson(slice(json))))
    expect(head.map(({ size }) => size)).toEqual([step, 1])
  })

  it('tells names of one hash apart, however many there are', () => {
    // 31 * 'B' + 'B' is 31 * 'C' + '#'
    expect(compactBytes('[{"BB":1,"C#":22}]')).toBe(18)
    const collide = (bits: number): string =>
      Array.from({ length: 12 }, (_, i) => ((bits >> i) & 1 ? 'BB' : 'C#')).join('')
    const names = Array.from({ length: 4_096 }, (_, i) => `"${collide(i)}":1`)
    const { size } = outlineOf(slice(`{${[...names, ...names.slice(0, 7)].join(',')}}`))
    expect(size).toBe(4_096)
  })

  it.each([
    ['\\u00e9', 'é', 1],
    ['\\u20ac', '€', 1],
    ['\\uD83D\\udd25', '🔥', 1],
    ['\\ud83d', '\\uD83D', 1],
    ['\\ud83d', '\\ud83e', 2],
    ['\\u0041\\/\\n', 'A/\\u000a', 1],
    ['\\u0041', 'B', 2],
    ['\\u0041', 'AB', 2],
    ['\\\\', '\\u005C', 1],
    ['a\\\\', 'a\\u0022', 2],
    // of one hash
    ['BB', '\\u0043#', 2],
    ['\\u0042B', 'C#', 2],
    ['\\u0042B', 'B\\u0042', 1],
  ])('takes %s and %s for as many names as they are', (a, b, distinct) => {
    expect(outlineOf(slice(`{"${a}":1,"${b}":2}`)).size).toBe(distinct)
  })
})
