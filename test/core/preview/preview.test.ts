import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import {
  humanBytes,
  previewBinary,
  previewJson,
  previewText,
  rawReadHint,
} from '../../../src/core/preview/preview.ts'

const preview = (json: string): string => previewJson(parseJson(Buffer.from(json)))
const previewOf = (value: string): string => preview(JSON.stringify(value))

describe('fidelity', () => {
  it('keeps 64-bit ids to the last digit', () => {
    const json = '{"Id":17052480123456789,"neg":-9223372036854775808,"u64":18446744073709551615}'
    expect(preview(json)).toBe(
      ' = json(Id: 17052480123456789, neg: -9223372036854775808, u64: 18446744073709551615, bytes=78)',
    )
  })

  it('keeps number tokens as written, beyond a double too', () => {
    expect(preview('[1.0,-0.0,1e3,1e400,0.10]')).toBe(
      ' = array(len=5, [1.0, -0.0, 1e3, 1e400, 0.10])',
    )
    expect(preview('{"b":1.0,"a":[-0.0,1e3]}')).toBe(' = json(b: 1.0, a: array(len=2), bytes=24)')
  })

  it('lists members in document order, integer-like names too', () => {
    expect(preview('{"b":1,"10":2,"9":3,"a":4}')).toBe(' = json(b: 1, 10: 2, 9: 3, a: 4, bytes=26)')
    expect(preview('[{"b":1,"10":2,"9":3}]')).toBe(' = array(len=1, [{b:1,10:2, …}])')
  })

  it('treats __proto__, constructor and the empty name as plain names', () => {
    expect(preview('{"__proto__":{"x":1},"constructor":[],"":null}')).toBe(
      ' = json(__proto__: json(keys=1), constructor: array(len=0), : null, bytes=46)',
    )
    expect(preview('[{"__proto__":1,"":true}]')).toBe(' = array(len=1, [{__proto__:1,:true}])')
  })

  it('shows of a repeated name the last value in the first place, at every level', () => {
    expect(preview('{"a":1,"b":2,"\\u0061":333}')).toBe(' = json(a: 333, b: 2, bytes=15)')
    expect(preview('[{"a":1,"b":2,"a":3}]')).toBe(' = array(len=1, [{a:3,b:2}])')
    expect(preview('{"x":{"a":1,"b":2,"a":3}}')).toBe(' = json(x: json(keys=2), bytes=19)')
  })

  it('escapes NUL and keeps U+2028 out of the line structure', () => {
    expect(previewOf('W\0s\0l\0 failed\0')).toBe(
      ' = text(len=14B, lines=1) "W\\0s\\0l\\0 failed\\0"',
    )
    expect(previewOf('a\u2028b')).toBe(' = text(len=5B, lines=1) "a\\u{2028}b"')
    expect(preview('{"u":"\\u2028","n":"\\u0000"}')).toBe(
      ' = json(u: "\\u{2028}", n: "\\0", bytes=24)',
    )
  })

  it('shows a lone surrogate as U+FFFD of 3 bytes, and counts its escape in bytes=', () => {
    expect(preview('"a\\ud83d"')).toBe(' = text(len=4B, lines=1) "a\ufffd"')
    expect(preview('{"\\udc00":"\\ud83d"}')).toBe(' = json(\ufffd: "\ufffd", bytes=19)')
    expect(preview(`{"k":"${'\\ud800'.repeat(41)}"}`)).toBe(
      ' = json(k: text(len=123B, lines=1), bytes=254)',
    )
    expect(preview(`["${'\\udfff'.repeat(41)}"]`)).toBe(
      ` = array(len=1, ["${'\ufffd'.repeat(40)}…"])`,
    )
  })
})

describe('text', () => {
  it('never cuts a code point at the end of the head', () => {
    const answer = previewOf(`${'a'.repeat(399)}🔥${'b'.repeat(400)}`)
    expect(answer).toContain(`head="${'a'.repeat(399)}", tail="${'b'.repeat(200)}"`)
  })

  it('never cuts a code point at the start of the tail', () => {
    const answer = previewOf(`${'h'.repeat(500)}🎉${'t'.repeat(199)}`)
    expect(answer).toContain(`tail="${'t'.repeat(199)}")`)
    expect(answer).not.toContain('\ufffd')
  })

  it('needs no more of a huge text than its first 600 and last 200 bytes', () => {
    const head = Buffer.from('€'.repeat(200))
    const tail = Buffer.from(`${'€'.repeat(67)}`).subarray(1)
    expect(previewText({ bytes: 1_073_741_824, lines: 7, head, tail })).toBe(
      ` = text(len=1024.0MB, lines=7, head="${'€'.repeat(133)}", tail="${'€'.repeat(66)}")`,
    )
  })

  it('shows colour codes escaped, never raw', () => {
    const osc = '\u001b]8;;https://example.test\u0007link \u009b31m C1 \u007f del \bback'
    expect(previewOf(osc)).toBe(
      ' = text(len=51B, lines=1) "\\u{1b}]8;;https://example.test\\u{7}link \\u{9b}31m C1 \\u{7f} del \\u{8}back"',
    )
    const run = `\u001b[1m RUN \u001b[0m\n${'\u001b[32m✓\u001b[39m spec passed\n'.repeat(40)}\u001b[31m1 failed`
    expect(previewOf(run)).not.toMatch(/\p{Cc}/u)
  })

  it('tells the rows of a table as lines and shows its header row', () => {
    const rows = Array.from({ length: 3000 }, (_, i) => `${i + 1},1234567890.5${i + 1}`)
    const answer = previewOf(`id,amount\n${rows.join('\n')}`)
    expect(answer).toContain('lines=3001, head="id,amount\\n1,1234567890.51\\n')
    expect(answer).toMatch(/, tail="[^"]*3000,1234567890\.53000"\)$/)
  })

  it.each([
    ['', 0],
    ['a', 1],
    ['a\n', 1],
    ['a\r\nb', 2],
    ['\n\n', 2],
    ['a\rb\u2028c\u0085', 1],
  ])('counts the lines of %j as %i', (value, lines) => {
    expect(previewOf(value)).toContain(`lines=${lines})`)
  })
})

describe('bounds', () => {
  it('samples five elements of many, each clipped', () => {
    const rows = Array.from({ length: 500 }, (_, i) => ({
      value: { notes: 'n'.repeat(500), [`k${i}`]: i },
    }))
    const answer = preview(JSON.stringify(rows))
    expect(answer).toBe(
      ` = array(len=500, [:3]=[${'{value:{…}}, '.repeat(3).slice(0, -2)}], [-2:]=[{value:{…}}, {value:{…}}])`,
    )
  })

  it('clips a number that is a document of its own', () => {
    const digits = '7'.repeat(5000)
    expect(preview(digits)).toBe(` = ${'7'.repeat(600)}…`)
    expect(preview(`{"n":${digits}}`)).toBe(` = json(n: ${'7'.repeat(600)}…, bytes=5006)`)
    expect(preview(`[${digits}]`)).toBe(` = array(len=1, [${'7'.repeat(120)}…])`)
    expect(preview(`[{"n":${digits}}]`)).toBe(` = array(len=1, [{n:${'7'.repeat(24)}…}])`)
  })

  it('names eight members of more than 24', () => {
    const members = Array.from({ length: 25 }, (_, i) => `"k${i}":0`)
    expect(preview(`{${members.join(',')}}`)).toBe(
      ' = json(keys=25 total, first=[k0, k1, k2, k3, k4, k5, k6, k7, …], bytes=191)',
    )
    const repeated = [...members.slice(0, 24), '"k0":1']
    expect(preview(`{${repeated.join(',')}}`)).toMatch(/^ = json\(k0: 1, .*k23: 0, bytes=183\)$/)
  })
})

describe('what the reference does not know', () => {
  it('a binary is described by type, size and digest', () => {
    const sha256 = '0123456789abcdef'.repeat(4)
    expect(previewBinary({ mediaType: 'image/png', bytes: 1_153_434, sha256 })).toBe(
      ' = binary(type=image/png, len=1.1MB, sha256=0123456789abcdef…)',
    )
  })

  it('a media type that is more than a name is quoted and bounded', () => {
    const shown = (mediaType: string) => previewBinary({ mediaType, bytes: 1, sha256: 'ab' })
    expect(shown('a/b, len=9B)\n\ud800')).toBe(
      ' = binary(type="a/b, len=9B)\\n\ufffd", len=1B, sha256=ab…)',
    )
    expect(shown(`a/${'b'.repeat(500)}`)).toBe(
      ` = binary(type="a/${'b'.repeat(118)}…", len=1B, sha256=ab…)`,
    )
  })

  it('the hint of a binary names the raw read', () => {
    expect(rawReadHint('r7')).toMatch(/^\n\[[^\n]*GET …\/results\/r7\/value[^\n]*\]$/)
  })
})

describe('humanBytes', () => {
  it.each([
    [0, '0B'],
    [1023, '1023B'],
    [1024, '1.0KB'],
    [1280, '1.2KB'],
    [1792, '1.8KB'],
    [2304, '2.2KB'],
    [1_048_575, '1024.0KB'],
    [1_048_576, '1.0MB'],
    [1_310_720, '1.2MB'],
    [1_048_576 * 1.75, '1.8MB'],
    [1_310_721, '1.3MB'],
    [1_073_741_824, '1024.0MB'],
  ])('writes %i as %s', (bytes, shown) => {
    expect(humanBytes(bytes)).toBe(shown)
  })
})

describe('an object that repeats names', () => {
  it("shows the last value of each in the first one's place, past any number of repeats", () => {
    const repeats = '"a":0,"b":"x","c":[9],'.repeat(60)
    expect(preview(`{${repeats}"d":true,"c":{"z":1,"y":2},"b":7,"a":[1,2,3]}`)).toBe(
      ' = json(a: array(len=3), b: 7, c: json(keys=2), d: true, bytes=46)',
    )
  })

  it('shows the last value of each, however far down it is', () => {
    const many = Array.from({ length: 60 }, (_, n) => `"k${n}":${n}`).join(',')
    for (const last of ['[1,2,3]', '{"z":1}', '7']) {
      const once = preview(`{${many.replace('"k0":0', `"k0":${last}`)}}`)
      const repeated = preview(`{${many},"k0":${last}}`)
      expect(repeated.replace(/bytes=\d+/, '')).toBe(once.replace(/bytes=\d+/, ''))
    }
  })
})
