import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { continuation, continuationChars } from '../../../src/core/recall/page.ts'
import { boundRecall, parseRecall } from '../../../src/core/recall/request.ts'
import { thrownBy } from '../../support/errors.ts'

const parse = (json: string) => parseRecall(parseJson(Buffer.from(json)))
const withRange = (range: string) => parse(`{"id":"r1","range":${range}}`)
const withChars = (chars: string) => parse(`{"id":"r1","chars":${chars}}`)
const ALL = { id: 'r1', unit: 'lines', start: null, end: null, ignored: [] }

describe('what is plain is read', () => {
  it.each([
    ['{"id":"r1"}', ALL],
    ['{"id":"call\\u002d1 é\\ud83d"}', { ...ALL, id: 'call-1 é\ud83d' }],
    ['{"id":"r1","range":{"start":2,"end":5}}', { ...ALL, start: 2, end: 5 }],
    ['{"id":"r1","chars":{"start":0,"end":5}}', { ...ALL, unit: 'chars', start: 0, end: 5 }],
    ['{"id":"r1","range":null,"chars":{"start":3}}', { ...ALL, unit: 'chars', start: 3 }],
    [
      '{"id":"r1","range":{"start":0,"end":0},"chars":{"end":3}}',
      { ...ALL, unit: 'chars', end: 3 },
    ],
    ['{"id":"r1","chars":"","range":{"end":3}}', { ...ALL, end: 3 }],
    ['{"id":"r0","id":"r1","range":5,"range":{"start":2}}', { ...ALL, start: 2 }],
  ])('%s', (json, request) => {
    expect(parse(json)).toEqual(request)
  })

  it.each([
    'null',
    '""',
    '{}',
    '{"start":0,"end":0}',
    '{"start":null,"end":null}',
    '{"start":"","end":"0"}',
    '{"end":0}',
  ])('a range or chars of %s is absent', (span) => {
    expect(withRange(span)).toEqual(ALL)
    expect(withChars(span)).toEqual(ALL)
  })

  it('a start of 0 alone is from the start', () => {
    expect(withRange('{"start":0}')).toEqual(ALL)
    expect(withChars('{"start":0}')).toEqual({ ...ALL, unit: 'chars', start: 0 })
  })

  it('an end of 0 is absent', () => {
    expect(withRange('{"start":3,"end":0}')).toEqual({ ...ALL, start: 3 })
    expect(withChars('{"start":"3","end":"0"}')).toEqual({ ...ALL, unit: 'chars', start: 3 })
  })

  it.each([
    ['7', 7],
    ['7.0', 7],
    ['7e0', 7],
    ['0.7e1', 7],
    ['70e-1', 7],
    ['"0.7e+1"', 7],
    ['"7"', 7],
    ['" 7\\n"', 7],
    ['"+7"', 7],
    ['"007"', 7],
    ['"7."', 7],
    ['"7.00"', 7],
    ['"7e0"', 7],
    ['1e400', Number.POSITIVE_INFINITY],
    ['99999999999999999999', 1e20],
  ])('an end of %s is %d', (token, end) => {
    expect(withRange(`{"start":1,"end":${token}}`)).toEqual({ ...ALL, start: 1, end })
  })

  it('what means nothing is listed, in well-formed strings', () => {
    const json =
      '{"limit":5,"id":"r1","range":{"start":1,"step":2,"end":3},"chars":{"from":0},"\\ud83d":1,"__proto__":1}'
    expect(parse(json)).toEqual({
      ...ALL,
      start: 1,
      end: 3,
      ignored: ['limit', '\ufffd', '__proto__', 'range.step', 'chars.from'],
    })
  })

  it('of a range and chars the chars are taken, and the range is listed', () => {
    const both = '{"id":"r1","range":{"start":1,"end":3},"chars":{"start":4,"end":9},"x":1}'
    expect(parse(both)).toEqual({
      ...ALL,
      unit: 'chars',
      start: 4,
      end: 9,
      ignored: ['x', 'range'],
    })
  })
})

describe('what would mean something else is refused', () => {
  it.each(['1', '[]', '"r1"', 'null', '{}', '{"id":""}', '{"id":null}', '{"id":1}', '{"ID":"r1"}'])(
    '%s has no id',
    (json) => {
      expect(thrownBy(() => parse(json))?.code).toBe('invalid_request')
    },
  )

  it('a body without an id is told what to give', () => {
    expect(thrownBy(() => parse('["r1"]'))?.detail).toContain('object such as {"id": "r1"}')
    expect(thrownBy(() => parse('{"ID":"r1"}'))?.detail).toContain('string: {"id": "r1"}')
  })

  it.each(['5', '"1-5"', '[1,5]', 'true', '" "', '"{\\"start\\":1}"'])('a range of %s', (range) => {
    const error = thrownBy(() => withRange(range))
    expect(error?.code).toBe('invalid_range')
    expect(error?.detail).toBe('"range" must be an object: {"start": 1, "end": 100}.')
    expect(thrownBy(() => withChars(range))?.detail).toContain('"chars" must be an object')
  })

  it.each([
    ['1.5', '"1.5"'],
    ['15e-1', '"15e-1"'],
    ['"one"', '"one"'],
    ['"1,000"', '"1,000"'],
    ['"1.5"', '"1.5"'],
    ['"0x10"', '"0x10"'],
    ['"0x1e5"', '"0x1e5"'],
    ['"1 2"', '"1 2"'],
    ['"..e5"', '"..e5"'],
    ['" "', '" "'],
    ['"٣"', '"٣"'],
    ['true', '"true"'],
    ['[1]', '"[1]"'],
    ['{"a":1}', '"{\\"a\\":1}"'],
    [`"${'é'.repeat(40)}"`, `"${'é'.repeat(40)}"`],
    [`"${'é'.repeat(50)}"`, `"${'é'.repeat(40)}…"`],
    [`"${'x'.repeat(39)}\\ud83d\\ude00"`, `"${'x'.repeat(39)}\ufffd…"`],
  ])('a start of %s', (token, shown) => {
    const error = thrownBy(() => withRange(`{"start":${token}}`))
    expect(error?.code).toBe('invalid_range')
    expect(error?.detail).toBe(`"range.start" must be a whole number; it is ${shown}.`)
    const end = thrownBy(() => withChars(`{"end":${token}}`))
    expect(end?.detail).toBe(`"chars.end" must be a whole number; it is ${shown}.`)
  })
})

describe('bounds', () => {
  const size = { totalLines: 10, totalChars: 100 }
  const bound = (unit: 'lines' | 'chars', start: number | null, end: number | null) =>
    boundRecall({ id: 'r1', unit, start, end, ignored: [] }, size)

  it.each([
    ['lines', null, null, 1, 10],
    ['lines', 3, null, 3, 10],
    ['lines', null, 4, 1, 4],
    ['lines', 3, 3, 3, 3],
    ['lines', 10, 11, 10, 10],
    ['lines', 1, Number.POSITIVE_INFINITY, 1, 10],
    ['chars', null, null, 0, 100],
    ['chars', 0, null, 0, 100],
    ['chars', null, 4, 0, 4],
    ['chars', 99, 1e20, 99, 100],
    ['chars', 3, 4, 3, 4],
  ] as const)('%s from %s to %s are %i to %i', (unit, start, end, from, to) => {
    expect(bound(unit, start, end)).toEqual({ unit, start: from, end: to })
  })

  const LINES = 'Lines are numbered from 1, both ends included; there are 10, and '
  const CHARS = 'Chars are numbered from 0, the end excluded; there are 100, and '
  it.each([
    ['lines', 0, 5, `${LINES}a start of 0 is before the first line.`],
    ['lines', -1, 5, `${LINES}a start of -1 is negative.`],
    ['lines', -1, null, `${LINES}a start of -1 is negative.`],
    ['lines', 0, -2, `${LINES}an end of -2 is negative.`],
    ['lines', 5, 4, `${LINES}an end of 4 is before a start of 5.`],
    ['lines', 11, null, `${LINES}a start of 11 is past the end.`],
    ['lines', 11, 12, `${LINES}a start of 11 is past the end.`],
    ['chars', 1, Number.NEGATIVE_INFINITY, `${CHARS}an end of -Infinity is negative.`],
    ['chars', null, -2, `${CHARS}an end of -2 is negative.`],
    ['chars', 5, 5, `${CHARS}an end of 5 is not after a start of 5.`],
    ['chars', 5, 4, `${CHARS}an end of 4 is not after a start of 5.`],
    ['chars', 100, null, `${CHARS}a start of 100 is past the end.`],
  ] as const)(
    '%s from %s to %s are refused with how many there are',
    (unit, start, end, detail) => {
      expect(thrownBy(() => bound(unit, start, end))).toEqual({
        code: 'invalid_range',
        detail,
        facts: { total_lines: 10, total_chars: 100 },
      })
    },
  )

  it('of nothing are nothing, and no line or char of it can be asked for', () => {
    const none = { totalLines: 0, totalChars: 0 }
    const all = { id: 'r1', unit: 'lines', start: null, end: null, ignored: [] } as const
    expect(boundRecall(all, none)).toEqual({ unit: 'lines', start: 1, end: 0 })
    expect(thrownBy(() => boundRecall({ ...all, start: 1 }, none))?.detail).toContain('there are 0')
    expect(thrownBy(() => boundRecall({ ...all, unit: 'chars', start: 0 }, none))?.code).toBe(
      'invalid_range',
    )
  })
})

describe('the note of a page that goes on', () => {
  it('says which lines it holds and holds the call that continues', () => {
    const lines = { start: 3, end: 5 }
    expect(continuation(lines, 12, { id: 'a"b', range: { start: 6, end: 12 } })).toBe(
      '[lines 3–5 of 12; recall {"id": "a\\"b", "range": {"start": 6, "end": 12}} continues]',
    )
    expect(continuation(lines, 12, { id: 'r1', chars: { start: 60, end: 90 } })).toBe(
      '[lines 3–5 of 12; recall {"id": "r1", "chars": {"start": 60, "end": 90}} continues]',
    )
  })

  it('takes no more than is set apart for it', () => {
    const size = { totalLines: 12, totalChars: 3_456 }
    for (const id of ['r1', 'é😀"\n', 'x'.repeat(64)]) {
      const lines = { start: 12, end: 12 }
      const widest = continuation(lines, 12, { id, chars: { start: 3_455, end: 3_456 } })
      expect([...widest].length + 1).toBeLessThanOrEqual(continuationChars(id, size))
    }
  })
})
