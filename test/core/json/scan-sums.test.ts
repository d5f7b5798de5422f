import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/core/json/canonical.ts'
import type { Outline } from '../../../src/core/json/outline.ts'
import { outlineOf, parseJson } from '../../../src/core/json/scan.ts'
import { elementsOf, JsonSlice, membersOf } from '../../../src/core/json/slice.ts'
import { type Doc, docs, gaps, holds, indented, nested, spaced } from '../../support/json.ts'
import { keep, viewsOf } from '../../support/rendered.ts'

const slice = (text: string) => parseJson(Buffer.from(text))
const bytesOf = (text: string): number => Buffer.byteLength(text)
const newlinesIn = (text: string): number => text.split('\n').length - 1

/** What cannot be cut in two. */
const PIECE = /\\u.{4}|\\.|./gsu

/** Where `text` may be cut, by bytes. */
function placesIn(text: string): readonly number[] {
  let pos = 0
  return Array.from(text.matchAll(PIECE), ([piece]) => {
    pos += bytesOf(piece)
    return pos
  })
}

/** Strings in which many places may not be cut. */
const dense = fc
  .array(
    fc.constantFrom('a', 'é', '😀', '\\\\', '\\"', '\\n', '\\u005c', '\\u0022', '\\ud83d\\ude00'),
    { maxLength: 40 },
  )
  .map((parts) => `"${parts.join('')}"`)

/** Small documents, and such strings in them. */
const documents: fc.Arbitrary<Doc> = fc
  .tuple(docs(), dense, fc.constantFrom(0, 0, 1, 9, 30), fc.boolean())
  .map(([doc, string, levels, isObject]) =>
    nested(
      isObject
        ? {
            members: [
              ['"k"', doc],
              [string, string],
            ],
          }
        : { items: [string, doc] },
      levels,
    ),
  )
const sizes = fc.record({
  chunkBytes: fc.integer({ min: 1, max: 40 }),
  chunkViewBytes: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(10_000)),
})

/** The names of an object as they are meant. */
const namesOf = (members: readonly (readonly [string, Doc])[]): ReadonlySet<string> =>
  new Set(members.map(([key]) => JSON.parse(key) as string))

function hasRepeats(doc: Doc): boolean {
  if (typeof doc === 'string') return false
  if ('items' in doc) return doc.items.some(hasRepeats)
  const { members } = doc
  return namesOf(members).size < members.length || members.some(([, value]) => hasRepeats(value))
}

function sizeOf(doc: Doc): number {
  if (typeof doc === 'string') return 0
  return 'items' in doc ? doc.items.length : namesOf(doc.members).size
}

/** What is noted of the entries of `text`, which is spelled from `doc`. */
function entriesOf(doc: Doc, text: string) {
  if (typeof doc === 'string') return []
  const value = slice(text)
  if ('items' in doc) {
    return [...elementsOf(value)].map(({ start, end }, i) => {
      return { start, valueStart: start, end, size: sizeOf(doc.items[i] as Doc) }
    })
  }
  return [...membersOf(value)].map(({ key, value: { start, end } }, i) => {
    const [, member] = doc.members[i] as readonly [string, Doc]
    return { start: key.start, valueStart: start, end, size: sizeOf(member) }
  })
}

describe('what a scan notes of a value', () => {
  it('is its size in every form, and where its first and last entries stand', () => {
    holds(
      fc.property(documents, gaps, fc.constantFrom('', ' ', '\n\n\t'), (doc, between, before) => {
        const text = spaced(doc, between)
        const view = indented(doc)
        const value = slice(before + text + before)
        const canonical = canonicalJson(value)
        const entries = entriesOf(doc, text)
        const { cuts, escapedTails, ...noted } = value.outline as Outline
        expect(noted).toEqual({
          bytes: bytesOf(text),
          viewLines: newlinesIn(view),
          viewBytes: bytesOf(view),
          compactBytes: bytesOf(canonical),
          hasRepeats: hasRepeats(doc),
          entries: entries.length,
          size: sizeOf(doc),
          head: entries.slice(0, 32),
          tail: entries.slice(-2),
        })
        expect(cuts).toEqual([])
        if (noted.hasRepeats) return
        const tails = bytesOf(text) - [...text].length
        expect(bytesOf(canonical) - [...canonical].length).toBe(escapedTails + tails)
      }),
      400,
    )
  })

  it('has the first 32 entries and the last two, of however many', () => {
    for (const count of [0, 1, 2, 3, 31, 32, 33, 100]) {
      const items = Array.from(
        { length: count },
        (_, i): Doc => ({ items: Array(i % 3).fill('0') }),
      )
      const text = spaced({ items }, [' '])
      const { head, tail, entries } = outlineOf(slice(text))
      const all = entriesOf({ items }, text)
      expect([head, tail, entries]).toEqual([all.slice(0, 32), all.slice(-2), count])
    }
  })

  it('is noted of the first 16 entries of a document when it is asked for, and of none of the rest', () => {
    const members = Array.from({ length: 20 }, (_, i): [string, Doc] => [
      `"k${i}"`,
      { items: ['1'] },
    ])
    const document = parseJson(Buffer.from(spaced({ members }, ['\n'])), undefined, 'entries')
    const noted = [...membersOf(document)].map(({ value }) => value.outline !== undefined)
    expect(noted).toEqual([...Array(16).fill(true), ...Array(4).fill(false)])
    expect(document.outline).toBeUndefined()
  })
})

describe('an outline of a value', () => {
  it('is the one that was noted, if one was', () => {
    const value = slice(' [1] ')
    expect(outlineOf(value)).toBe(value.outline)
    const { bytes, start, end } = value
    expect(outlineOf(new JsonSlice(bytes, start, end))).toEqual(value.outline)
  })
})

describe('the places where a value is cut', () => {
  it('are those from which the view goes on, and know how much of it comes before', () => {
    holds(
      fc.property(documents, gaps, sizes, (doc, between, small) => {
        const text = spaced(doc, between)
        const value = Buffer.from(text)
        const views = viewsOf(keep(value, { form: 'json', start: 0, end: value.length }, small))
        expect(Buffer.concat(views).toString()).toBe(indented(doc))
        const { cuts } = outlineOf(slice(text), small)
        expect(cuts).toHaveLength(views.length - 1)
        const places = new Set(placesIn(text))
        cuts.forEach(({ pos, lines, viewBytes }, i) => {
          const before = Buffer.concat(views.slice(0, i + 1)).toString()
          expect(places).toContain(pos)
          expect([lines, viewBytes]).toEqual([newlinesIn(before), bytesOf(before)])
        })
      }),
      400,
    )
  })

  it('make chunks that are full in one way, and not much more than full in either', () => {
    // punctuation and an escape
    const OVER_BYTES = 8
    holds(
      fc.property(documents, gaps, sizes, (doc, between, small) => {
        const { chunkBytes, chunkViewBytes } = small
        const text = spaced(doc, between)
        const { cuts, bytes, viewBytes } = outlineOf(slice(text), small)
        const longestLine = Math.max(...indented(doc).split('\n').map(bytesOf))
        let before = { pos: 0, viewBytes: 0 }
        for (const cut of [...cuts, { pos: bytes, viewBytes }]) {
          const taken = cut.pos - before.pos
          const shown = cut.viewBytes - before.viewBytes
          if (cut.pos < bytes) expect(taken >= chunkBytes || shown >= chunkViewBytes).toBe(true)
          expect(taken).toBeLessThanOrEqual(chunkBytes + OVER_BYTES)
          expect(shown).toBeLessThanOrEqual(chunkViewBytes + 2 * longestLine + OVER_BYTES)
          before = cut
        }
      }),
      400,
    )
  })

  it.each([
    ['a string', dense],
    ['a number', fc.integer({ min: 1, max: 90 }).map((length) => '7'.repeat(length))],
  ])('in %s are the first after each chunk that split nothing', (_, tokens) => {
    holds(
      fc.property(tokens, fc.integer({ min: 1, max: 40 }), (token, chunkBytes) => {
        const places = placesIn(token).slice(0, -1)
        const expected: number[] = []
        let next: number | undefined = 0
        while (next !== undefined) {
          const full: number = next + chunkBytes
          next = places.find((place) => place >= full)
          if (next !== undefined) expected.push(next)
        }
        const { cuts } = outlineOf(slice(token), { chunkBytes, chunkViewBytes: 1_000 })
        expect(cuts.map(({ pos }) => pos)).toEqual(expected)
      }),
      600,
    )
  })

  it('are those where the view of a chunk is full, at a value or at a closing bracket', () => {
    const cutsOf = (text: string, chunkViewBytes: number) =>
      outlineOf(slice(text), { chunkBytes: 1_000, chunkViewBytes }).cuts.map(({ pos }) => pos)
    // before the second element the view has 9 bytes, before the third 14, before the fourth 19
    expect(cutsOf('[1,2,3,4]', 9)).toEqual([3, 7])
    expect(cutsOf('[1,2,3,4]', 10)).toEqual([5])
    // before the inner closing bracket 11, before the outer 15
    expect(cutsOf('[[1]]', 11)).toEqual([3])
    expect(cutsOf('[[1]]', 12)).toEqual([4])
  })

  it('are at a closing bracket when the chunk ends right before it', () => {
    const { cuts } = outlineOf(slice('[1234567]'), { chunkBytes: 8, chunkViewBytes: 1_000 })
    expect(cuts.map(({ pos }) => pos)).toEqual([8])
  })

  it('in white space are as far apart as a chunk is long', () => {
    const text = `[${' '.repeat(40)}1${'\n'.repeat(40)},${'\t'.repeat(40)}2]`
    const { cuts, compactBytes } = outlineOf(slice(text), { chunkBytes: 10, chunkViewBytes: 1_000 })
    expect(cuts.map(({ pos }) => pos)).toEqual([10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120])
    expect(cuts.map(({ viewBytes }) => viewBytes)).toEqual([1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9])
    expect(compactBytes).toBe('[1,2]'.length)
  })

  it('are the same for a value inside another as for the value alone', () => {
    const row: Doc = {
      members: [
        ['"name"', '"é\\n\\ud83d\\ude00"'],
        ['"tags"', { items: ['1', '[]'] }],
      ],
    }
    const inner = spaced({ items: Array(6_000).fill(row) }, [' ', '', '\n'])
    const around = `  {"none":[],"before":[1,{"a":2}] , "large" : ${inner}\n,"after":{"a":1,"a":2}}`
    const alone = outlineOf(slice(inner))
    expect(alone.cuts.length).toBeGreaterThan(3)
    const members = [...membersOf(parseJson(Buffer.from(around), undefined, 'entries'))]
    expect(members.map(({ value }) => value.outline)).toEqual([
      outlineOf(slice('[]')),
      outlineOf(slice('[1,{"a":2}]')),
      alone,
      outlineOf(slice('{"a":1,"a":2}')),
    ])
    expect(slice(`\n ${inner}`).outline).toEqual(alone)
  })
})
