import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import {
  editSlice,
  JsonParts,
  joinParts,
  partBytes,
  sliceOf,
  spliceJson,
  spliceParts,
} from '../../../src/core/json/splice.ts'
import { docs, gaps, holds, spaced } from '../../support/json.ts'

describe('composing', () => {
  it('copies slices as they came and encodes the rest', () => {
    const slice = parseJson(Buffer.from(' { "10" : 1.0 , "2":"\\u0041\\ud83d" } '))
    const json = spliceJson({ text: 'é"\ud83d', slice, list: [slice, 1, true, null, []], none: {} })
    const kept = '{ "10" : 1.0 , "2":"\\u0041\\ud83d" }'
    expect(json.toString()).toBe(
      `{"text":"é\\"\\ud83d","slice":${kept},"list":[${kept},1,true,null,[]],"none":{}}`,
    )
  })

  it('leaves undefined members out', () => {
    expect(spliceJson({ a: undefined, b: 1, c: undefined, d: 'x' }).toString()).toBe(
      '{"b":1,"d":"x"}',
    )
    expect(spliceJson({ a: undefined }).toString()).toBe('{}')
  })

  it('has no part without bytes', () => {
    const slice = parseJson(Buffer.from('1.0'))
    expect(spliceParts(slice)).toEqual([slice.source])
    expect(spliceParts([slice]).map(String)).toEqual(['[', '1.0', ']'])
  })

  it('makes a slice of a value of ours', () => {
    expect(sliceOf(['a']).kind).toBe('array')
    expect(sliceOf('a').toString()).toBe('"a"')
  })

  it('of any document around slices is one document', () => {
    holds(
      fc.property(docs(), gaps, (doc, between) => {
        const source = spaced(doc, between)
        const slice = parseJson(Buffer.from(source))
        expect(parseJson(spliceJson({ a: [slice, slice] })).toString()).toBe(
          `{"a":[${source},${source}]}`,
        )
      }),
    )
  })
})

describe('editing', () => {
  const args = parseJson(Buffer.from('  ["a", "b", "c"]  '))

  it('replaces the given ranges and leaves every other byte', () => {
    const edited = editSlice(args, [
      { start: 3, end: 6, bytes: Buffer.from('{}') },
      { start: 13, end: 16, bytes: Buffer.from('1.0') },
    ])
    expect(edited.toString()).toBe('[{}, "b", 1.0]')
  })

  it('replaces the whole', () => {
    const edit = { start: args.start, end: args.end, bytes: Buffer.from('null') }
    expect(editSlice(args, [edit]).toString()).toBe('null')
  })

  it('without edits is the same slice', () => {
    expect(editSlice(args, [])).toBe(args)
  })
})

describe('parts that are yet to be read', () => {
  it('stand among the rest, and are read when all is joined', async () => {
    const source = {
      totalBytes: 4,
      async *read() {
        yield Buffer.from('[1')
        yield Buffer.from(',2')
      },
    }
    const inner = new JsonParts([source, Buffer.from(']')])
    const parts = spliceParts({ a: inner, b: 'x', c: parseJson(Buffer.from('1.0')) })
    const whole = await joinParts(parts)
    expect(whole.toString()).toBe('{"a":[1,2],"b":"x","c":1.0}')
    expect(parts.reduce((sum, part) => sum + partBytes(part), 0)).toBe(whole.length)
    expect(await joinParts([whole])).toBe(whole)
  })
})
