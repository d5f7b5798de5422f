import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import {
  countElements,
  distinctMembersOf,
  elementsOf,
  type JsonSlice,
  membersOf,
} from '../../../src/core/json/slice.ts'
import { type Doc, docs, gaps, holds, spaced } from '../../support/json.ts'
import { isObject, parseTree, toJson } from '../../tree.ts'

const slice = (text: string) => parseJson(Buffer.from(text))

/** The document read through the slices alone. */
function read(value: JsonSlice): Doc {
  if (value.kind === 'array') return { items: [...elementsOf(value)].map(read) }
  if (value.kind !== 'object') return value.toString()
  return { members: [...membersOf(value)].map(({ key, value: v }) => [key.toString(), read(v)]) }
}

describe('slices', () => {
  it('give back every token, in order, repeated members included', () => {
    holds(
      fc.property(docs(), gaps, (doc, between) => {
        expect(read(slice(spaced(doc, between)))).toEqual(doc)
      }),
      1_000,
    )
  })

  it('by distinct name give the last value in the place of the first', () => {
    holds(
      fc.property(docs(), gaps, (doc, between) => {
        const source = spaced(doc, between)
        const tree = parseTree(source)
        if (!isObject(tree)) return
        const members = [...distinctMembersOf(slice(source))]
        expect(
          members.map(([name, { value }]) => [name, toJson(parseTree(value.toString()))]),
        ).toEqual([...tree].map(([name, value]) => [name, toJson(value)]))
      }),
      1_000,
    )
  })

  it('count the elements of an array', () => {
    holds(
      fc.property(fc.array(docs(), { maxLength: 8 }), gaps, (items, between) => {
        expect(countElements(slice(spaced({ items }, between)))).toBe(items.length)
      }),
    )
  })

  it.each([
    ['{"a":1}', 'object'],
    ['[]', 'array'],
    ['""', 'string'],
    ['-1', 'number'],
    ['0', 'number'],
    ['true', 'boolean'],
    ['false', 'boolean'],
    ['null', 'null'],
  ])('of %s are of the kind %s', (text, kind) => {
    expect(slice(text).kind).toBe(kind)
  })

  it('are views, not copies', () => {
    const bytes = Buffer.from(' [1] ')
    const value = parseJson(bytes)
    expect([value.start, value.end]).toEqual([1, 4])
    bytes[2] = 0x32
    expect(value.source.toString()).toBe('[2]')
  })

  it('alone are what they were inside, with what a scan noted of them', () => {
    const members = distinctMembersOf(slice(' {"a" : [1, "é" ,{"b":[]}] ,"c":-1.5 } '))
    for (const { value } of members.values()) {
      const alone = value.alone()
      expect([alone.start, alone.end]).toEqual([0, value.end - value.start])
      expect(`${alone}`).toBe(`${value}`)
      expect(alone.outline).toBe(value.outline)
    }
  })

  it('keep names apart that differ only in a lone surrogate', () => {
    const members = distinctMembersOf(slice('{"\\ud83d":1,"\\ude00":2,"\\ufffd":3,"\\uD83D":4}'))
    expect([...members.values()].map(({ value }) => value.toString())).toEqual(['4', '2', '3'])
  })
})
