import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findPath,
  findPaths,
  type Path,
  pointerEscape,
  pointerSegments,
  segmentsOf,
} from '../../../src/core/json/path.ts'
import { parseJson } from '../../../src/core/json/scan.ts'

/** What `path` finds in `document`, as it stands there. */
function find(document: string, path: string): string | undefined {
  const read = segmentsOf(path)
  if (read === undefined) return undefined
  const result = findPath(parseJson(Buffer.from(document)), read)
  return 'found' in result ? result.found.toString() : undefined
}

describe('a dotted path', () => {
  const DOCUMENT =
    '{"a.b":1,"a":{"b":2},"":{"":3},"x":{"y.z":4},"10":5,"~1":6,"é😀":7,"s":"text","list":["p","q",["r"]]}'

  it.each([
    ['', DOCUMENT],
    ['.a', '{"b":2}'],
    ['.a.b', '2'],
    ['.', '{"":3}'],
    ['..', '3'],
    ['.x.y.z', undefined],
    ['.10', '5'],
    ['.~1', '6'],
    ['.é😀', '7'],
    ['.s.0', undefined],
    ['.s.length', undefined],
    ['.list.0', '"p"'],
    ['.list.2.0', '"r"'],
    ['.list.3', undefined],
    ['.list.', undefined],
    ['.list.length', undefined],
    ['.a#/b', undefined],
  ])('%j finds %s', (path, found) => {
    expect(find(DOCUMENT, path)).toBe(found)
  })

  it.each([
    ['1', '"b"'],
    ['01', '"b"'],
    ['+1', '"b"'],
    ['+0001', '"b"'],
    ['-1', undefined],
    ['-0', undefined],
    ['1e0', undefined],
    ['1.0', undefined],
    ['0x1', undefined],
    [' 1', undefined],
    ['1 ', undefined],
    ['1\n', undefined],
    ['+', undefined],
    ['++1', undefined],
    ['', undefined],
    ['١', undefined],
    ['18446744073709551616', undefined],
    ['9'.repeat(400), undefined],
  ])('an index is what a usize is read from: %j finds %s', (index, found) => {
    expect(find('["a","b","c"]', `.${index}`)).toBe(found)
  })
})

describe('a pointer', () => {
  it('counts elements in decimal digits, without leading zeros', () => {
    const list = JSON.stringify(Array.from({ length: 12 }, (_, index) => index))
    expect(find(list, '#/10')).toBe('10')
    expect(find(list, '#/0')).toBe('0')
    for (const path of ['#/01', '#/1a', '#/12', '#/-1', '#/+1']) {
      expect(find(list, path)).toBeUndefined()
    }
  })

  const RFC_6901 =
    '{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}'

  it.each([
    ['', RFC_6901],
    ['/foo', '["bar","baz"]'],
    ['/foo/0', '"bar"'],
    ['/', '0'],
    ['/a~1b', '1'],
    ['/c%d', '2'],
    ['/e^f', '3'],
    ['/g|h', '4'],
    ['/i\\j', '5'],
    ['/k"l', '6'],
    ['/ ', '7'],
    ['/m~0n', '8'],
    ['/foo/-', undefined],
    ['/foo/2', undefined],
    ['/foo/00', undefined],
    ['/foo/01', undefined],
    ['/foo/+1', undefined],
    ['/foo/', undefined],
    ['foo', undefined],
    ['/m~n', undefined],
    ['/m~', undefined],
    ['/m~2n', undefined],
    ['/a.b', undefined],
  ])('%j of RFC 6901 finds %s', (pointer, found) => {
    expect(find(RFC_6901, `#${pointer}`)).toBe(found)
  })

  it('undoes ~1 before ~0', () => {
    expect(pointerSegments('/~01/~10/~00')).toEqual(['~1', '/0', '~0'])
  })

  it.each(['', 'a', '~', '/', '~1', '~0', '/~/', '~01', 'a~b/c'])(
    'leads to the name %j',
    (name) => {
      expect(pointerSegments(`/${pointerEscape(name)}`)).toEqual([name])
    },
  )
})

describe('members', () => {
  it('are own ones only, whatever their names', () => {
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length']) {
      expect(find('{"a":{}}', `.${name}`)).toBeUndefined()
      expect(find('[1]', `.${name}`)).toBeUndefined()
      expect(find('{"a":1}', `#/a/${name}`)).toBeUndefined()
      expect(find(`{"${name}":{"${name}":1}}`, `.${name}.${name}`)).toBe('1')
    }
  })

  it('that are repeated give the last', () => {
    expect(find('{"a":{"b":1},"\\u0061":{"c":2}}', '.a.c')).toBe('2')
    expect(find('{"a":{"b":1},"a":{"c":2}}', '.a.b')).toBeUndefined()
  })

  it('are found by their decoded names', () => {
    expect(find('{"\\u00e9\\n":1}', '.é\n')).toBe('1')
    expect(find('{"\\ud83d":1,"\\ufffd":2}', '.\ud83d')).toBe('1')
  })
})

describe('what is missing', () => {
  const missing = (document: string, path: string) => {
    const { segments, syntax } = segmentsOf(path) ?? { segments: [], syntax: 'dotted' }
    return findPath(parseJson(Buffer.from(document)), { segments, syntax })
  }

  it.each([
    ['{"a":{"b":1,"c":2}}', '.a.d.e', { missing: 'd', inside: 'object', available: ['b', 'c'] }],
    ['{"a":[1,2,3]}', '.a.3', { missing: '3', inside: 'array', available: ['0..2'] }],
    ['{"a":[1]}', '#/a/x', { missing: 'x', inside: 'array', available: ['0..0'] }],
    ['[]', '.0', { missing: '0', inside: 'array', available: [] }],
    ['"text"', '.0', { missing: '0', inside: 'string', available: [] }],
    ['{"a":null}', '.a.b', { missing: 'b', inside: 'null', available: [] }],
  ])('in %s at %s is told with what there is', (document, path, expected) => {
    expect(missing(document, path)).toEqual(expected)
  })

  it('is told with a bounded, well-formed list', () => {
    const names = Array.from({ length: 30 }, (_, i) => `"n${i}":0`).join(',')
    expect(missing(`{${names}}`, '.x')).toMatchObject({
      available: Array.from({ length: 20 }, (_, i) => `n${i}`),
    })
    expect(
      missing(`{"${'😀'.repeat(80)}":0,"${'😀'.repeat(81)}":0,"\\ud83d":0}`, '.x'),
    ).toMatchObject({
      available: ['😀'.repeat(80), `${'😀'.repeat(80)}…`, '\ufffd'],
    })
  })
})

describe('a path of more segments than any value has levels', () => {
  it.each(['.a', '/a'])('is cut where no value reaches: %s', (segment) => {
    const long = segment.repeat(1_000_000)
    const path = segmentsOf(segment === '.a' ? long : `#${long}`)
    expect(path?.segments).toEqual(Array.from({ length: 2_049 }, () => 'a'))
  })
})

describe('many paths into one value', () => {
  const DOCUMENT =
    '{"a":[{"x":1},{"x":2,"x":3}],"b":{"0":"zero","1":{"":[]}},"a ":null,"deep":[[[["end"]]]]}'
  const segment = fc.constantFrom('a', 'b', 'x', '0', '1', '01', '+1', '', 'deep', '2', '-', 'a ')
  const path: fc.Arbitrary<Path> = fc.record({
    segments: fc.array(segment, { maxLength: 5 }),
    syntax: fc.constantFrom('dotted', 'pointer'),
  })

  it('are found in one walk as each is alone, in the order asked for', () => {
    const value = parseJson(Buffer.from(DOCUMENT))
    fc.assert(
      fc.property(fc.array(path, { maxLength: 20 }), (paths) => {
        expect(findPaths(value, paths)).toEqual(paths.map((one) => findPath(value, one)))
      }),
      { seed: 11, numRuns: 300 },
    )
  })

  it('into a large value cost little more than one: forty thousand of them end soon', () => {
    const rows = Array.from({ length: 80_000 }, (_, id) => ({ id, name: 'x'.repeat(40) }))
    const value = parseJson(Buffer.from(JSON.stringify({ rows })))
    const paths = Array.from({ length: 40_000 }, (_, n): Path => {
      return { segments: ['rows', String(79_999 - n), 'id'], syntax: 'dotted' }
    })
    const found = findPaths(value, paths)
    expect(found.map((result) => 'found' in result && result.found.toString())).toEqual(
      paths.map(({ segments }) => segments[1]),
    )
  })
})
