import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  escapedRanges,
  expand,
  NumberToken,
  parseTree,
  sameText,
  type Tree,
  toJson,
  vectors,
} from './vectors.ts'

const families = readdirSync(new URL('./vectors/', import.meta.url))
  .filter((file) => file.endsWith('.jsonl.gz'))
  .map((file) => file.slice(0, -'.jsonl.gz'.length))

describe('parseTree', () => {
  it.each([
    '18446744073709551615',
    '1.0',
    '-0.0',
    '1e21',
    '1.5e+300',
    '2E0',
    '-0',
    '{"10":1,"2":[],"":{},"__proto__":[null,true,false],"constructor":"\\u0000\\"\\\\"}',
    '[[],[{}],"]}"]',
  ])('keeps %s as written', (text) => {
    expect(toJson(parseTree(text))).toBe(text)
  })

  it('reads white space between tokens and escapes within strings', () => {
    expect(toJson(parseTree(' { "\\u0061" : [ 1 , "\\u2028\\/" ] } \n'))).toBe(
      '{"a":[1,"\u2028/"]}',
    )
  })

  it('lets the last duplicate win at the place of the first', () => {
    expect(toJson(parseTree('{"a":1,"b":2,"a":3}'))).toBe('{"a":3,"b":2}')
  })

  it.each(['', '{', '[1', '[1,]', '{"a"}', '{"a":1,}', '"a', 'nul', '1 2', '[1}', '{a:1}'])(
    'refuses %j',
    (text) => {
      expect(() => parseTree(text)).toThrow(SyntaxError)
    },
  )
})

describe('expand', () => {
  it.each([
    ['{"$repeat":["ab",3]}', '"ababab"'],
    ['{"$concat":["a",{"$repeat":["b",2]},"c"]}', '"abbc"'],
    ['{"$repeat":[{"$concat":["a","b"]},2]}', '"abab"'],
    ['{"$seq":{"from":9,"to":11,"pad":3,"before":"<","after":">"}}', '"<009><010><011>"'],
    ['[{"k":{"$repeat":["x",1]}}]', '[{"k":"x"}]'],
    ['{"$repeat":["x",1],"other":1}', '{"$repeat":["x",1],"other":1}'],
    ['[1.0,null]', '[1.0,null]'],
  ])('turns %s into %s', (spec, text) => {
    expect(toJson(expand(parseTree(spec)))).toBe(text)
  })
})

describe('sameText', () => {
  const digest = createHash('sha256').update('h\u00e9').digest('hex')

  it('compares with a digest, a spec and a plain string', () => {
    const byDigest: Tree = new Map([['$sha256', digest]])
    expect(sameText(byDigest, 'h\u00e9')).toBe(true)
    expect(sameText(byDigest, 'he')).toBe(false)
    expect(sameText(parseTree('{"$repeat":["a",2]}'), 'aa')).toBe(true)
    expect(sameText('a', 'a')).toBe(true)
    expect(sameText('a', 'b')).toBe(false)
  })

  it('holds nothing equal to what is no string', () => {
    expect(sameText(null, null)).toBe(false)
    expect(sameText(new NumberToken('1'), 1)).toBe(false)
  })
})

describe('the files', () => {
  it.each(families)('%s is read line by line and written back unchanged', (family) => {
    const changed = [...vectors(family)].filter(
      ({ inputText }) => asciiJson(parseTree(inputText)) !== inputText,
    )
    // only a duplicate key is not written back: three of the sentinels have one
    expect(changed.map(({ kind }) => kind)).toHaveLength(family === 'sentinels' ? 3 : 0)
  })

  it.each(families)('%s names every vector by kind and number', (family) => {
    const names = [...vectors(family)].map(({ name }) => name)
    expect(names.length).toBeGreaterThan(0)
    expect(names.filter((name) => !/^\w+\/\d{4}/.test(name))).toEqual([])
  })

  it('has both ends of every escaped range, in order', () => {
    const ranges = escapedRanges()
    expect(ranges).toHaveLength(908)
    expect(ranges[0]).toEqual([1, 8])
    expect(ranges.flat()).toEqual(ranges.flat().toSorted((a, b) => a - b))
  })
})

function asciiJson(tree: Tree): string {
  return toJson(tree).replace(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
