import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { thrownBy } from '../../support/errors.ts'
import { compact, docs, gaps, holds, nested, shifted, spaced } from '../../support/json.ts'

const scan = (text: string, depth?: number) => parseJson(Buffer.from(text), depth)
/** The offset that the refusal of `bytes` names. */
function offsetOf(bytes: Buffer): number | undefined {
  const { offset_bytes: offset } = thrownBy(() => parseJson(bytes))?.facts ?? {}
  return offset as number | undefined
}

/** What the platform's parser says. */
function accepts(bytes: Buffer): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
    return true
  } catch {
    return false
  }
}

describe('the grammar', () => {
  it.each([
    '0',
    '-0',
    '-0.0',
    '10',
    '1.5',
    '1e5',
    '1E+05',
    '1.25e-300',
    '1e400',
    '18446744073709551616',
    'true',
    'false',
    'null',
    '""',
    '"\\"\\\\\\/\\b\\f\\n\\r\\t"',
    '"\\u0000\\uABCD\\uabcd"',
    '"\\ud83d"',
    '"\\ude00\\ud83d"',
    '"\u007f\u0080\u2028\u2029\ufeff\uffff😀"',
    '[]',
    '{}',
    '[[],{}]',
    '{"":0}',
    '{"a":1,"a":2}',
    '{"__proto__":{"constructor":null}}',
    '[1,"a",true,null,{"b":[]}]',
  ])('takes %s, and gives it without the white space around it', (text) => {
    for (const space of ['', ' ', '\t\n\r ']) {
      expect(scan(`${space}${text}${space}`).toString()).toBe(text)
    }
  })

  it.each([
    ['', 0],
    [' \n', 2],
    ['\ufeff1', 0],
    ['1\ufeff', 1],
    ['\u00a01', 0],
    ['\v1', 0],
    ['\f1', 0],
    ['\0', 0],
    ['1\0', 1],
    ['\u20281', 0],
    ['01', 1],
    ['-', 1],
    ['-01', 2],
    ['--1', 1],
    ['+1', 0],
    ['.5', 0],
    ['1.', 2],
    ['1.e5', 2],
    ['1e', 2],
    ['1e+', 3],
    ['1e+-5', 3],
    ['0x10', 1],
    ['1_000', 1],
    ['Infinity', 0],
    ['-Infinity', 1],
    ['NaN', 0],
    ['tru', 0],
    ['[True]', 1],
    ['nullx', 4],
    ['undefined', 0],
    ["'a'", 0],
    ['"', 1],
    ['"abc', 4],
    ['"\\"', 3],
    ['"\\x41"', 1],
    ['"a\\', 2],
    ['"\\u12', 1],
    ['"\\u12G4"', 1],
    ['"\\u"', 1],
    ['"\\U0041"', 1],
    ['"\\ud83d\\ude0', 7],
    ['"\\ud83d\\ude0"', 7],
    ['"\\ud83d\\udeXX"', 7],
    ['"\n"', 1],
    ['"a\tb"', 2],
    ['"\0"', 1],
    ['"\u001f"', 1],
    ['[', 1],
    [']', 0],
    ['[1', 2],
    ['[1,', 3],
    ['[1,]', 3],
    ['[,1]', 1],
    ['[1 2]', 3],
    ['[1}', 2],
    ['[1]]', 3],
    ['{', 1],
    ['}', 0],
    ['{"a"', 4],
    ['{"a":', 5],
    ['{"a"}', 4],
    ['{"a" 1}', 5],
    ['{"a":}', 5],
    ['{"a":1,}', 7],
    ['{"a":1 "b":2}', 7],
    ['{"a":1]', 6],
    ['{,}', 1],
    ['{a:1}', 1],
    ['{1:1}', 1],
    ['1 2', 2],
    ['1 // a comment', 2],
    ['/**/1', 0],
  ])('refuses %j at byte %i', (text, offset) => {
    const error = thrownBy(() => scan(text))
    expect(error?.code).toBe('invalid_json')
    expect(error?.facts).toEqual({ offset_bytes: offset })
    expect(accepts(Buffer.from(text))).toBe(false)
  })

  it.each([
    ['[1 😀]', 3, '"," or "]" expected, found "😀"'],
    ['{"a":1', 6, '"," or "}" expected, the input ends there'],
    ['1 2', 2, 'the end of the document expected, found "2"'],
    ['', 0, 'a value expected, the input ends there'],
    ['[?', 1, 'a value expected, found "?"'],
    ['[nul]', 1, 'a value expected, found "n"'],
    ['{"a":1,é:2}', 7, 'a member name expected, found "é"'],
    ['{"a" 1}', 5, '":" expected, found "1"'],
    ['{"a"', 4, '":" expected, the input ends there'],
    ['-x', 1, 'a digit expected, found "x"'],
    ['"a', 2, 'the closing quote of a string expected, the input ends there'],
    ['{"a', 3, 'the closing quote of a string expected, the input ends there'],
    ['"\u0007"', 1, 'an escaped control character expected, found "\\u0007"'],
    ['{"\t":1}', 2, 'an escaped control character expected, found "\\t"'],
    ['"\\u00g0"', 1, 'four hex digits after \\u expected, found "\\\\"'],
    ['"\\x41"', 1, 'an escape expected, found "\\\\"'],
  ])('says of %j where it is wrong, what it expected and what stands there', (text, at, what) => {
    expect(thrownBy(() => scan(text))?.detail).toBe(`The JSON is malformed at byte ${at}: ${what}.`)
  })

  it('refuses every proper prefix of a document', () => {
    const whole = Buffer.from('{"k\\u00e9y":[-1.5e+3,true,"é😀\\n",{"":null}],"b":[false,{}]}')
    expect(parseJson(whole).end).toBe(whole.length)
    for (let end = 0; end < whole.length; end++) {
      expect(thrownBy(() => parseJson(whole.subarray(0, end)))?.code).toMatch(/^invalid_/)
    }
  })
})

describe('against the parser of the platform', () => {
  const bytesOf = fc
    .tuple(docs(), gaps)
    .map(([doc, between]) => Buffer.from(spaced(doc, [...between, ''])))
  const STRANGE = '{}[]",:\\u0123eE+-. \t\n\r\0\u001ftfn/\u007f\x80\xc3\xe2\xf0\xff'
  const mutations = fc.array(
    fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 2 }),
      insert: fc.constantFrom('', ...STRANGE),
    }),
    { minLength: 1, maxLength: 3 },
  )
  const mutated = fc.tuple(bytesOf, mutations).map(([bytes, edits]) =>
    edits.reduce((now, { at, remove, insert }) => {
      const pos = at % (now.length + 1)
      return Buffer.concat([
        now.subarray(0, pos),
        Buffer.from(insert, 'latin1'),
        now.subarray(pos + remove),
      ])
    }, bytes),
  )

  it('every document is taken', () => {
    holds(
      fc.property(bytesOf, (bytes) => {
        expect(parseJson(bytes).source.equals(bytes)).toBe(true)
      }),
    )
  })

  it('a mutated document is taken or refused alike', () => {
    const seen = new Set<boolean>()
    holds(
      fc.property(mutated, (bytes) => {
        const taken = thrownBy(() => parseJson(bytes)) === undefined
        seen.add(taken)
        expect(taken).toBe(accepts(bytes))
      }),
      6_000,
    )
    expect(seen.size).toBe(2)
  })

  it('the offset of an error is the first byte by which the document cannot be', () => {
    holds(
      fc.property(mutated, (bytes) => {
        const error = thrownBy(() => parseJson(bytes))
        if (error?.code !== 'invalid_json') return
        const offset = offsetOf(bytes) as number
        expect([undefined, offset]).toContain(offsetOf(bytes.subarray(0, offset)))
        if (offset === bytes.length) return
        let end = offset + 1
        while (((bytes[end] ?? 0) & 0xc0) === 0x80) end++
        expect(offsetOf(bytes.subarray(0, end))).toBe(offset)
      }),
      3_000,
    )
  })

  it('the verdict does not depend on where in memory the bytes are', () => {
    holds(
      fc.property(mutated, (bytes) => {
        const verdict = thrownBy(() => parseJson(bytes))
        for (const shift of [0, 1, 2, 3]) {
          expect(thrownBy(() => parseJson(shifted(bytes, shift)))).toEqual(verdict)
        }
      }),
      1_000,
    )
  })
})

describe('long strings', () => {
  const LONG = 40
  const LAST = LONG - 1

  it.each([0, 1, 2, 3, 4, 5, 6, 7])('stop at what is special, %i bytes into a buffer', (shift) => {
    for (let at = 0; at < LONG; at++) {
      const plain = Array.from<unknown, string>({ length: LONG }, (_, i) =>
        i % 2 === 0 ? 'x' : '\u007f',
      )
      const withPiece = (piece: string): Buffer =>
        shifted(Buffer.from(`"${plain.with(at, piece).join('')}"`), shift)
      expect(offsetOf(withPiece('"'))).toBe(at === LAST ? LONG + 1 : at + 2)
      expect(offsetOf(withPiece('\u0000'))).toBe(at + 1)
      expect(offsetOf(withPiece('\u001f'))).toBe(at + 1)
      expect(offsetOf(withPiece('\\q'))).toBe(at + 1)
      for (const piece of [
        '\\"',
        '\\\\',
        '\\u0041',
        ' ',
        '!',
        '#',
        '[',
        ']',
        'é',
        '\u0080',
        '😀',
      ]) {
        expect(offsetOf(withPiece(piece))).toBeUndefined()
      }
    }
  })

  it('have hex digits of either case in their escapes, and nothing else', () => {
    for (let byte = 0; byte < 0x80; byte++) {
      const isHex = /^[0-9A-Fa-f]$/.test(String.fromCharCode(byte))
      for (const at of [0, 1, 2, 3]) {
        const digits = Buffer.from('00e9').fill(byte, at, at + 1)
        const text = Buffer.concat([Buffer.from('"\\u'), digits, Buffer.from('"')])
        expect(offsetOf(text)).toBe(isHex ? undefined : 1)
      }
    }
  })

  it('that never end are refused where the input ends', () => {
    for (let length = 0; length < LONG; length++) {
      for (const shift of [0, 1, 2, 3]) {
        expect(offsetOf(shifted(Buffer.from(`"${'x'.repeat(length)}`), shift))).toBe(length + 1)
      }
    }
  })
})

describe('white space', () => {
  it('of any length is skipped, and nothing else, wherever in memory it is', () => {
    for (let before = 0; before < 12; before++) {
      for (const after of [0, 1, 2, 3, 4, 8]) {
        for (const shift of [0, 1, 2, 3]) {
          // what lies around the document is white space, too
          const memory = Buffer.alloc(40, ' ')
          memory.write('12', shift + before)
          const { start, end } = parseJson(memory.subarray(shift, shift + before + 2 + after))
          expect([start, end]).toEqual([before, before + 2])
        }
      }
    }
  })
})

describe('depth', () => {
  const arrays = (levels: number): string => compact(nested({ items: [] }, levels - 1))
  const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

  it('of 1024 levels is taken, of 1025 refused with the limit and the place', () => {
    expect(scan(arrays(1024)).end).toBe(2048)
    expect(scan(objects(1024)).kind).toBe('object')
    for (const [text, offset] of [
      [arrays(1025), 1024],
      [objects(1025), 1024 * 5],
    ] as const) {
      const error = thrownBy(() => scan(text))
      expect(error?.code).toBe('json_too_deep')
      expect(error?.detail).toContain(`deeper than 1024 levels at byte ${offset}.`)
      expect(error?.facts).toEqual({
        limit: 'json_depth_levels',
        value: 1024,
        offset_bytes: offset,
      })
    }
  })

  it('is counted as it stands, not as it adds up', () => {
    expect(scan('[[1],[2],{"a":[]}]', 3).kind).toBe('array')
    expect(thrownBy(() => scan('[[1],[2],{"a":[]}]', 2))?.facts).toMatchObject({ offset_bytes: 14 })
    expect(scan('1', 0).kind).toBe('number')
  })

  it('of 100,000 open brackets overflows nothing', () => {
    const open = '['.repeat(100_000)
    expect(thrownBy(() => scan(open))?.code).toBe('json_too_deep')
    expect(thrownBy(() => scan(open, 200_000))?.facts).toEqual({ offset_bytes: 100_000 })
    expect(scan(open + ']'.repeat(100_000), 100_000).end).toBe(200_000)
  })
})

describe('UTF-8', () => {
  it('that is invalid is refused before anything else, with its offset', () => {
    const error = thrownBy(() => parseJson(Buffer.from([0x22, 0x61, 0xff, 0x22])))
    expect(error?.code).toBe('invalid_utf8')
    expect(error?.detail).toContain('byte 2 begins no code point')
    expect(error?.facts).toEqual({ offset_bytes: 2 })
    expect(thrownBy(() => parseJson(Buffer.from([0x5d, 0x80])))?.code).toBe('invalid_utf8')
    expect(thrownBy(() => parseJson(Buffer.from([0xff, 0x5d])))?.code).toBe('invalid_utf8')
  })
})
