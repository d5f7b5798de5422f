// Texts of each kind, made with known facts: the preview holds the facts within its bound, wherever in the text they stand.
import { describe, expect, it } from 'vitest'
import { previewExtendedText, TextPreview } from '../../../src/core/preview/text-preview.ts'
import { readPreview } from './grammar.ts'

const LIMIT = 1_000
const PIECE = 7_001

function previewOf(text: string, limit = LIMIT): string {
  const preview = previewExtendedText(Buffer.from(text), limit)
  expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(limit)
  readPreview(`r1${preview}`)
  return preview
}

const times = (count: number, line: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, index) => line(index))

describe('a table', () => {
  it('counts records, not lines, where cells hold line ends', () => {
    const rows = times(
      500,
      (i) => `${i},"note ${i}\nsecond line, with a comma",${i % 3 === 0 ? 'open' : 'closed'}`,
    )
    const preview = previewOf(['id,note,state', ...rows].join('\n'))
    expect(preview).toContain('kind=csv, records=500, columns=3')
    expect(preview).toContain('id: int 0 to 499')
    expect(preview).toContain('"closed"×333|"open"×167')
  })

  it('tells ragged records, semicolons and CRLF', () => {
    const preview = previewOf(
      ['a;b', '1;2', '3;4;5', '5;6', '']
        .join('\r\n')
        .concat(times(400, (i) => `${i};${i}`).join('\r\n')),
    )
    expect(preview).toContain('delimiter=semicolon')
    expect(preview).toContain('ragged=1')
  })

  it('takes a quote inside of a cell as it stands', () => {
    const rows = times(100, (i) => `${i},${i} inch`)
    const preview = previewOf(['size,name', '5,5" disk', ...rows].join('\n'))
    expect(preview).toContain('records=101')
  })

  it('counts all records of a long table', () => {
    const preview = previewOf(['id\tvalue', ...times(60_000, (i) => `${i}\t${i / 10}`)].join('\n'))
    expect(preview).toContain('records=60000')
    expect(preview).toContain('delimiter=tab')
    expect(preview).toContain('line 60001')
  })

  it('is not seen in prose with commas', () => {
    const prose = times(30, (i) => `Well, this is sentence ${i}, and it goes on, as they do.`).join(
      '\n',
    )
    expect(previewOf(prose)).not.toContain('kind=csv')
  })
})

describe('JSON Lines', () => {
  it('tell the records, their shape and the broken one', () => {
    const records = times(200, (i) =>
      JSON.stringify({ id: i, level: i === 120 ? 'error' : 'info' }),
    )
    records[50] = '{"id": 50, "level":'
    const preview = previewOf(records.join('\n'))
    expect(preview).toContain('kind=jsonl, records=200, broken=1 (line 51)')
    expect(preview).toContain('"info"×198 at 0..118+120..198|"error"×1 at 119')
    expect(preview).toContain('line 121')
  })
})

describe('a log', () => {
  it('shows its only ERROR, wherever it stands, the counts of levels and the times', () => {
    const all = times(
      20_000,
      (i) => `2024-05-01T10:00:${`${i % 60}`.padStart(2, '0')}Z INFO request ${i} done`,
    )
    all[13_371] = '2024-05-01T11:11:11Z ERROR cannot reach db-7: connection refused'
    const preview = previewOf(all.join('\n'))
    expect(preview).toContain('kind=log')
    expect(preview).toContain('ERROR×1|INFO×19999')
    expect(preview).toContain(
      'line 13372: "2024-05-01T11:11:11Z ERROR cannot reach db-7: connection refused"',
    )
    expect(preview).toContain('from="2024-05-01T10:00:00Z"')
  })

  it('collapses lines that differ in numbers alone', () => {
    const all = times(300, (i) => `12:00:00 WARN retry ${i}`)
    expect(previewOf(all.join('\n'))).toContain('×300')
  })
})

describe('other kinds', () => {
  it('a diff tells each file with its added and removed lines', () => {
    const file = (name: string): string =>
      [
        `diff --git a/${name} b/${name}`,
        `--- a/${name}`,
        `+++ b/${name}`,
        '@@ -1,2 +1,3 @@',
        ' same',
        '-old',
        '+new',
        `+more ${'x'.repeat(600)}`,
      ].join('\n')
    const preview = previewOf(
      [file('src/a.ts'), file('docs/b c.md')].join('\n').concat('\n', ' '.repeat(1)),
    )
    expect(preview).toContain('kind=diff, files=2, added=4, removed=2')
    expect(preview).toContain('"docs/b c.md" +2 -1')
  })

  it('a Python trace tells its error and the innermost frame of the project', () => {
    const frames = times(
      20,
      (i) => `  File "/app/pkg/m${i}.py", line ${i + 1}, in f${i}\n    call(${i})`,
    )
    const lib =
      '  File "/usr/lib/python3/site-packages/x/y.py", line 9, in inner\n    raise ValueError(1)'
    const preview = previewOf(
      ['Traceback (most recent call last):', ...frames, lib, 'ValueError: bad thing 42'].join('\n'),
    )
    expect(preview).toContain('kind=trace')
    expect(preview).toContain('"ValueError: bad thing 42"')
    expect(preview).toContain('m19.py')
  })

  it('compiler messages are counted by code and by file', () => {
    const all = times(
      90,
      (i) => `src/file${i % 3}.ts(${i},1): error TS${i % 2 === 0 ? 2339 : 2304}: Something.`,
    )
    const preview = previewOf(all.join('\n'))
    expect(preview).toContain('kind=diagnostics')
    expect(preview).toContain('"TS2339"×45|"TS2304"×45')
    expect(preview).toContain('"src/file0.ts"×30')
  })

  it('says so when there are more codes than are told apart', () => {
    const all = times(3_000, (i) => `src/file${i}.ts(${i},1): error TS${10_000 + i}: Something.`)
    expect(previewOf(all.join('\n'))).toContain('codes=2048+, files=2048+')
  })

  it('a test run tells the failed tests and its summary', () => {
    const all = times(200, (i) => `tests/test_a.py::test_${i} ${i === 77 ? 'FAILED' : 'PASSED'}`)
    const preview = previewOf([...all, '=== 1 failed, 199 passed in 3.21s ==='].join('\n'))
    expect(preview).toContain('kind=tests')
    expect(preview).toContain('test_77 FAILED')
    expect(preview).toContain('1 failed, 199 passed')
  })

  it('build output shows the errors at its end', () => {
    const all = [
      ...times(300, (i) => `> step ${i}`),
      'npm error code 1',
      'Command exited with code 1',
    ]
    expect(previewOf(all.join('\n'))).toContain('line 302: "Command exited with code 1"')
  })

  it('terminal output is shown without colours and overwritten progress', () => {
    const preview = previewOf(
      [
        '\u001b[31mred\u001b[0m alert',
        'progress 1%\rprogress 100%',
        ...times(90, (i) => `line ${i} ${'x'.repeat(30)}`),
      ].join('\n'),
    )
    expect(preview).toContain('terminal')
    expect(preview).toContain('"red alert"')
    expect(preview).toContain('"progress 100%"')
    expect(preview).not.toContain('31m')
  })

  it('Markdown, HTML, YAML and source code show their outline', () => {
    expect(
      previewOf(
        ['# Title', 'text', '## Part one', ...times(300, () => '- item'), '## Part two'].join('\n'),
      ),
    ).toContain('kind=markdown, headings=3')
    expect(
      previewOf(`<!doctype html>\n<title>Page</title>\n${'<p>x</p>\n'.repeat(200)}<h2>End</h2>`),
    ).toContain('"Page"')
    expect(
      previewOf(['name: x', 'on:', '  push:', ...times(100, (i) => `key${i}: ${i}`)].join('\n')),
    ).toContain('kind=yaml')
    expect(
      previewOf(
        [
          'import os',
          '',
          'def main():',
          ...times(100, (i) => `    x = ${i}`),
          'class Foo:',
          '    pass',
        ].join('\n'),
      ),
    ).toContain('"class Foo:"')
  })

  it('a note of another tool that cut the text is shown', () => {
    const all = [
      ...times(200, (i) => `row ${i}`),
      '[output truncated: 5000 more lines omitted]',
      ...times(200, (i) => `row ${i}`),
    ]
    expect(previewOf(all.join('\n'))).toContain('output truncated: 5000 more lines omitted')
  })

  it('minified code is said to be so', () => {
    expect(previewOf(`!function(){${'var a=1;'.repeat(2_000)}}();`)).toContain('minified')
  })

  it('JSON in a text is shown as JSON', () => {
    const preview = previewOf(JSON.stringify({ issues: times(200, (i) => `issue ${i}`) }))
    expect(preview).toContain('kind=json, keys=1')
    expect(preview).toContain('.issues')
  })
})

describe('a text in pieces', () => {
  it('has the same preview as in one, wherever it is cut', () => {
    const texts = [
      times(3_000, (i) => `${i},é${i},"a\nb"`).join('\n'),
      times(3_000, (i) => `12:00:0${i % 10} ${i % 500 === 7 ? 'ERROR' : 'INFO'} ünï ${i}`).join(
        '\r\n',
      ),
      times(9_000, (i) => JSON.stringify({ i, s: 'ß'.repeat(i % 40) })).join('\n'),
    ]
    for (const text of texts) {
      const bytes = Buffer.from(text)
      const whole = new TextPreview(LIMIT)
      whole.push(bytes)
      const pieces = new TextPreview(LIMIT)
      for (let at = 0; at < bytes.length; at += PIECE) pieces.push(bytes.subarray(at, at + PIECE))
      expect(pieces.end()).toBe(whole.end())
    }
  })
})
