// Values whose shapes pass the bounds of a survey, and texts that have more than a preview shows: what is told stays true, and
// what is left out is marked.
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../src/core/json/scan.ts'
import { excerpt } from '../../../src/core/preview/excerpt.ts'
import { namedPreview } from '../../../src/core/preview/extended.ts'
import { surveyJson } from '../../../src/core/preview/json/survey.ts'
import { typeText } from '../../../src/core/preview/json/type-text.ts'
import { headerOf } from '../../../src/core/preview/lines.ts'
import { previewExtendedText } from '../../../src/core/preview/text-preview.ts'
import { readPreview } from './grammar.ts'

const times = <T>(count: number, of: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => of(index))
const object = (count: number, name: (index: number) => string, value: unknown): object =>
  Object.fromEntries(times(count, (index) => [name(index), value]))

function previewOf(value: unknown): string {
  const { preview } = namedPreview('r1', parseJson(Buffer.from(JSON.stringify(value))))
  expect(readPreview(preview).isMarked).toBe(true)
  return preview
}

function textPreviewOf(lines: readonly string[], limit = 1_000): string {
  return previewExtendedText(Buffer.from(lines.join('\n')), limit)
}

describe('a value', () => {
  it('of maps of maps is told as such', () => {
    const inner = (n: number): object => object(200, (i) => `key${n}-${i}`, n)
    const preview = previewOf(Object.fromEntries(times(12, (n) => [`map${n}`, inner(n)])))
    expect(preview).toContain('map(keys=12: map0')
    expect(preview).toContain('of map(keys=200')
  })

  it('whose entries share no names is a map of objects of many names', () => {
    const value = Object.fromEntries(
      times(12, (n) => [`k${n}`, object(20, (i) => `n${n}x${i}`, true)]),
    )
    expect(previewOf(value)).toContain('map(keys=12')
  })

  it('whose rows have more names than are told apart says so', () => {
    const rows = times(30, (n) => ({ id: n, ...object(10, (i) => `c${n}x${i}`, 'x') }))
    expect(previewOf(rows)).toContain('id: int 0 to 29')
  })

  it('with more places than are told apart is read to its end', () => {
    const value = Object.fromEntries(
      times(100, (n) => [`k${n}`, { n, ...object(60, (i) => `p${n}x${i}`, [1]) }]),
    )
    expect(previewOf([value, { last: 'row' }])).toContain('array(len=2')
  })

  it('deeper than is told apart is read to its end', () => {
    const deep = `${'['.repeat(30)}1${']'.repeat(30)}`
    const objects = `${'{"a":'.repeat(30)}1${'}'.repeat(30)}`
    const source = `{"deep": ${deep}, "objects": ${objects}, "pad": "${'x'.repeat(9_000)}", "end": 7}`
    expect(namedPreview('r1', parseJson(Buffer.from(source))).preview).toContain('.end: 7')
  })
})

describe('parts of a preview', () => {
  it('the kinds of a place stand even where there is no room for them', () => {
    const json = parseJson(Buffer.from('["a", 1, true, null]'))
    const { items } = surveyJson(json)
    if (items === undefined) throw new Error('no items')
    expect(typeText(json.bytes, items, 3)).toBe('string|int|bool|null×1')
  })

  it('one fact of a header always stands', () => {
    expect(headerOf({ kind: 'text', facts: ['len=12345', 'lines=3'] }, 5)).toBe(
      ' = text(len=12345)',
    )
  })

  it('a text that goes on is marked, however short its start is', () => {
    expect(excerpt('abc', 100, false)).toEqual({ text: '"ab"…', whole: false })
  })
})

describe('a text', () => {
  it('with dates in a column tells their range', () => {
    const rows = times(
      60,
      (n) => `2024-${String((n % 12) + 1).padStart(2, '0')}-${10 + (n % 18)},${n}`,
    )
    expect(textPreviewOf(['day,count', ...rows], 500)).toContain(
      'day: date "2024-01-10" to "2024-12-',
    )
  })

  it('that is a diff names the kinds of changes, and the files left out of a long one', () => {
    const diffOf = (count: number): readonly string[] =>
      times(count, (n) => [`diff --git a/f${n} b/f${n}`, ...(NOTES[n % NOTES.length] ?? [])]).flat()
    const short = textPreviewOf(diffOf(60), 4_000)
    expect(short).toContain('kind=diff, files=60')
    for (const note of ['(new)', '(deleted)', '(renamed from "old")']) expect(short).toContain(note)
    const long = textPreviewOf(diffOf(400), 12_000)
    expect(long).toContain('kind=diff, files=400')
    expect(long).toContain('also: ')
  })

  it('that is a diff of binary files says so', () => {
    const files = times(30, (n) => [
      `diff --git a/pictures/${n} b/pictures/${n}`,
      ...(NOTES[3] ?? []),
    ])
    expect(textPreviewOf(files.flat())).toContain('"pictures/0" +0 -0 (binary)')
  })

  it('that is a log without times has its levels', () => {
    expect(textPreviewOf(times(200, (n) => `INFO step ${n}`))).toContain('levels=INFO×200')
  })

  it('with many different errors keeps the first and the last', () => {
    const lines = times(
      400,
      (n) =>
        `error ${'abcdefghij'[n % 10]}${'abcdefghij'[Math.floor(n / 10) % 10]}${'abcd'[Math.floor(n / 100)]} failed`,
    )
    const preview = textPreviewOf(lines, 2_000)
    expect(preview).toContain('line 1: ')
    expect(preview).toContain('line 400: ')
    expect(preview).toContain('error lines=400')
  })

  it('that is XML or source code has its outline', () => {
    const xml = [
      '<?xml version="1.0"?>',
      '<root>',
      ...times(200, (n) => `  <item id="${n}">text</item>`),
      '</root>',
    ]
    expect(textPreviewOf(xml)).toContain('kind=xml')
    const source = [
      'import os',
      ...times(100, (n) => `def f${n}():\n    return ${n}`),
      '    def inner(self):',
      '        pass',
    ]
    expect(textPreviewOf(source)).toContain('kind=source, declarations=101')
  })
})

const NOTES: readonly (readonly string[])[] = [
  [
    'new file mode 100644',
    '--- /dev/null',
    '+++ b/fresh',
    '@@ -0,0 +1 @@',
    '+a',
    '\\ No newline at end of file',
  ],
  ['deleted file mode 100644', '--- a/gone', '+++ /dev/null', '@@ -1 +0,0 @@', '-a'],
  [
    'rename from old',
    'rename to new',
    '--- a/old',
    '+++ b/new',
    '@@ -1,2 +1,2 @@',
    ' a',
    '-b',
    '+c',
  ],
  ['Binary files a/x and b/x differ'],
]
