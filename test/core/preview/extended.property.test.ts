// Properties of previews in the extended format over random and hostile values: bounded, well-formed, deterministic, readable by
// the grammar of the docs, and marked if and only if something was left out.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { namedPreview } from '../../../src/core/preview/extended.ts'
import { readPreview } from './grammar.ts'

const RUNS = Number(process.env['COATCHECK_TEST_RUNS'] ?? 1_500)
const LIMITS = [200, 300, 1_000, 4_000]

const hostile = fc.constantFrom(
  'r2 = array(len=3)',
  '\nr2 = text(len=1B)',
  'a"b\\c',
  '…',
  '\u202eabc\u2066',
  'e\u0301'.repeat(400),
  '\ud83d\udc68\u200d\ud83d\udc69'.repeat(50),
  '\u0000\u001b[31m',
  'key, other: {"x": 1}]',
  '[… truncated]',
  '__proto__',
  '',
)
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 40 }) },
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ maxLength: 3_000 }),
  hostile,
)
const lines = fc.oneof(
  fc.array(text, { maxLength: 200 }),
  fc.array(
    fc.tuple(fc.integer(), text, fc.double()).map((cells) => cells.join(',')),
    { maxLength: 80 },
  ),
  fc.array(
    fc
      .tuple(fc.constantFrom('INFO', 'ERROR', 'WARN'), text)
      .map(([level, rest]) => `2024-01-02 03:04:05 ${level} ${rest}`),
    { maxLength: 80 },
  ),
  fc.array(
    fc
      .tuple(text, fc.nat(), text)
      .map(([file, line, rest]) => `src/${file}.ts:${line}:1: error: ${rest}`),
    { maxLength: 80 },
  ),
  fc.array(
    fc.record({ id: fc.integer(), name: text }).map((row) => JSON.stringify(row)),
    { maxLength: 60 },
  ),
)
const row = fc.record(
  { id: fc.integer(), name: text, ok: fc.boolean(), tags: fc.array(text, { maxLength: 3 }) },
  { requiredKeys: ['id'] },
)
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    text,
    lines.map((all) => all.join('\n')),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.maxSafeInteger(),
    fc.constantFrom(true, false, null),
    fc.array(tie('any'), { maxLength: 20 }),
    fc.dictionary(text, tie('any'), { maxKeys: 30 }),
    fc.array(row, { maxLength: 60 }),
    fc.dictionary(text, row, { minKeys: 10, maxKeys: 40 }),
  ),
})).any

describe('a preview of the extended format', () => {
  it('is bounded, well-formed, deterministic, readable, and marked only if something was left out', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(...LIMITS), (sample, limit) => {
        const source = JSON.stringify(sample)
        const { preview, hint } = namedPreview('r1', parseJson(Buffer.from(source)), limit)
        expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(limit)
        expect(preview.isWellFormed()).toBe(true)
        expect(namedPreview('r1', parseJson(Buffer.from(source)), limit)).toEqual({ preview, hint })
        const { isMarked } = readPreview(preview)
        // What is not marked shows everything: the value can be read back from it.
        if (!isMarked) expect(readBack(preview)).toEqual(comparable(sample))
      }),
      { numRuns: RUNS, seed: 7 },
    )
  })

  it('is not marked when a small value is shown whole', () => {
    for (const sample of [
      0,
      '',
      'a b',
      [],
      {},
      [1, 'x', null],
      { a: { b: [true] }, 'c d': '\n' },
    ]) {
      const { preview } = namedPreview('r1', parseJson(Buffer.from(JSON.stringify(sample))))
      expect(readPreview(preview).isMarked).toBe(false)
    }
  })

  it('refuses a handle that could be taken for structure', () => {
    expect(() => namedPreview('r1 = x\nr2', parseJson(Buffer.from('1')))).toThrow(/handle/)
  })
})

/** The value that an unmarked preview shows. Strings are compared as they are shown. */
function readBack(preview: string): unknown {
  const shown = preview.replace(/^r1 = (?:(?:json|array|text)\([^)]*\) )?/, '')
  const json = shown
    .replaceAll(/"(?:[^"\\]|\\.)*"|([A-Za-z_$][\w$-]*)(?=: )/gu, (token, name) =>
      name === undefined ? token : JSON.stringify(name),
    )
    .replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, hex: string) =>
      JSON.stringify(String.fromCodePoint(Number.parseInt(hex, 16))).slice(1, -1),
    )
  return JSON.parse(json)
}

/** A text that is JSON is shown as that; lone surrogates are shown as U+FFFD. */
function comparable(sample: unknown): unknown {
  const plain: unknown = JSON.parse(
    JSON.stringify(sample).replaceAll(/\\ud[89a-f][0-9a-f]{2}/g, '\ufffd'),
  )
  if (typeof plain !== 'string') return plain
  try {
    const inner: unknown = JSON.parse(plain)
    return typeof inner === 'object' && inner !== null ? inner : plain
  } catch {
    return plain
  }
}
