import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quote } from '../../../src/core/preview/rust-debug.ts'
import { escapedRanges, member, type NumberToken, type Tree, text, vectors } from '../../vectors.ts'

const SHORT = new Map(
  [...'\0\t\n\r"\\'].map((char, i) => [char, ['\\0', '\\t', '\\n', '\\r', '\\"', '\\\\'][i]]),
)

function codePoints(range: Tree): string {
  const [first, last] = (range as readonly NumberToken[]).map(({ text }) => Number(text))
  let out = ''
  for (let code = first as number; code <= (last as number); code++) {
    if (code < 0xd800 || code > 0xdfff) out += String.fromCodePoint(code)
  }
  return out
}

describe('quote', () => {
  const lines = [...vectors('debug_escape')]
  const of = (key: string) =>
    lines.filter(({ input }) => (input as ReadonlyMap<string, Tree>).has(key))

  it('answers every string vector as the reference does', () => {
    const strings = of('s')
    expect(strings.length).toBeGreaterThan(400)
    for (const { name, input, expected } of strings) {
      expect(quote(text(member(input, 's'))), name).toBe(expected)
    }
  })

  it('answers every block of code points as the reference does', () => {
    const blocks = of('code_points')
    expect(blocks.length).toBeGreaterThan(2000)
    for (const { name, input, expected } of blocks) {
      const answer = Buffer.from(quote(codePoints(member(input, 'code_points'))))
      expect(createHash('sha256').update(answer).digest('hex'), name).toBe(
        member(expected, '$sha256'),
      )
    }
  })

  it('escapes exactly the 908 ranges of the sweep, at their edges and beside them', () => {
    const sweep = lines.filter(({ name }) => name.includes('u_escaped_ranges'))
    expect(sweep.length).toBe(1)
    const ranges = escapedRanges()
    const swept = sweep
      .flatMap(({ expected }) => expected as readonly (readonly string[])[])
      .map((pair) => pair.map((hex) => Number.parseInt(hex, 16)))
    expect(swept).toEqual(ranges)
    expect(ranges.length).toBe(908)
    const shown = (code: number) => quote(String.fromCodePoint(code)).slice(1, -1)
    const inside = new Set(ranges.flat())
    for (const [first, last] of ranges) {
      for (const code of [first, last]) expect(shown(code)).toBe(`\\u{${code.toString(16)}}`)
      for (const code of [first - 1, last + 1]) {
        if (inside.has(code) || code > 0x10ffff) continue
        const char = String.fromCodePoint(code)
        expect(shown(code)).toBe(SHORT.get(char) ?? char)
      }
    }
  })

  it('counts every code point once: unescaped, short or escaped', () => {
    const counts = lines.find(({ name }) => name.includes('counts'))?.expected as Tree
    const number = (key: string) => Number((member(counts, key) as NumberToken).text)
    const got = { unescaped: 0, short: 0, escaped: 0 }
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const char = String.fromCodePoint(code)
      const inside = quote(char).slice(1, -1)
      if (inside === char) got.unescaped++
      else if (inside.startsWith('\\u{')) got.escaped++
      else got.short++
    }
    expect(got).toEqual({
      unescaped: number('unescaped'),
      short: number('short'),
      escaped: number('u_escaped'),
    })
  })

  it('writes the six short escapes and no others', () => {
    const shorts = lines.find(({ name }) => name.includes('short_escapes'))
      ?.expected as ReadonlyMap<string, Tree>
    const answers = [...shorts].map(([hex]) => [
      hex,
      quote(String.fromCodePoint(Number.parseInt(hex, 16))).slice(1, -1),
    ])
    expect(new Map(answers as [string, string][])).toEqual(shorts)
    expect(quote('\b\f\v\u001b\u009b\u007f')).toBe('"\\u{8}\\u{c}\\u{b}\\u{1b}\\u{9b}\\u{7f}"')
  })

  it('escapes what extends a grapheme wherever it stands', () => {
    expect(quote('e\u0301')).toBe('"e\\u{301}"')
    expect(quote('\u0301e')).toBe('"\\u{301}e"')
    expect(quote('❤\ufe0f')).toBe('"❤\\u{fe0f}"')
  })

  it('shows a lone surrogate as U+FFFD and keeps a pair', () => {
    expect(quote('a\ud83db\udd25c\ud83d\udd25')).toBe('"a\ufffdb\ufffdc🔥"')
  })

  it('adds only the quotes to long plain text', () => {
    const plain = "the quick brown fox, it's ".repeat(40_000)
    expect(quote(plain)).toBe(`"${plain}"`)
  })

  it('is well-formed, free of controls and reversible for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (given) => {
        const answer = quote(given)
        expect(answer.isWellFormed()).toBe(true)
        expect(answer).not.toMatch(/\p{Cc}/u)
        expect(unquote(answer)).toBe(given)
      }),
      { seed: 813, numRuns: 300 },
    )
  })
})

/** Reads an answer back, by Rust's rules for string literals. */
function unquote(quoted: string): string {
  const back = new Map([...SHORT].map(([char, short]) => [short, char]))
  return quoted
    .slice(1, -1)
    .replace(/\\u\{([0-9a-f]+)\}|\\./g, (written, hex) =>
      hex === undefined
        ? (back.get(written) as string)
        : String.fromCodePoint(Number.parseInt(hex, 16)),
    )
}
