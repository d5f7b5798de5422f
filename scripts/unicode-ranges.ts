/**
 * Writes the Unicode tables of `src/core/preview/` as source. So the characters that a preview
 * escapes or keeps together do not depend on the Unicode version of the runtime.
 * `rust-debug-ranges.ts` comes from the table of the vectors, `unicode-ranges.ts` from the
 * properties of this runtime. Run it when a table changes.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { scriptOptions } from './options.ts'

const VECTOR_TABLE = new URL('../test/vectors/debug_escape_ranges.csv', import.meta.url)
const PREVIEW = new URL('../src/core/preview/', import.meta.url)
const LINE_CHARS = 98
const RADIX = 36
const CODE_POINTS = 0x110000

scriptOptions({
  command: 'node scripts/unicode-ranges.ts',
  does: 'Writes the Unicode tables of previews as source.',
})

interface Table {
  readonly doc: string
  readonly name: string
  /** First code point and the one after the last of each range, ascending. */
  readonly boundaries: readonly number[]
}

writeTables('rust-debug-ranges.ts', {
  header:
    "Which code points Rust's `{:?}` writes as `\\u{…}`: 908 ranges of Unicode 17. Data only; `rust-debug.ts` reads it.",
  tables: [
    {
      doc: 'Where each range begins and where it ends (exclusive), in turn, each as the distance from the one before, base 36.',
      name: 'QUOTE_RANGE_DELTAS',
      boundaries: fromCsv(readFileSync(VECTOR_TABLE, 'ascii')),
    },
  ],
})
writeTables('unicode-ranges.ts', {
  header: `Ranges of Unicode ${process.versions['unicode']}, each as in \`rust-debug-ranges.ts\`. Data only; \`excerpt.ts\` reads it.`,
  tables: [
    {
      doc: 'Code points that cannot be seen: controls, formats, separators but the space, private use, unassigned, and what fonts ignore.',
      name: 'INVISIBLE_RANGE_DELTAS',
      boundaries: matching(/[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u, ' '),
    },
    {
      doc: 'Code points that belong to the character before them: marks, joiners, variation selectors and emoji modifiers.',
      name: 'EXTENDING_RANGE_DELTAS',
      boundaries: matching(/\p{M}|\u200d|\p{Emoji_Modifier}/u),
    },
  ],
})

function fromCsv(csv: string): readonly number[] {
  const rows = csv.split('\n').filter((row) => row !== '')
  return rows.flatMap((row) => {
    const [first = '', last = ''] = row.split(',')
    return [Number.parseInt(first, 16), Number.parseInt(last, 16) + 1]
  })
}

function matching(property: RegExp, except = ''): readonly number[] {
  const boundaries: number[] = []
  let inside = false
  for (let code = 0; code <= CODE_POINTS; code++) {
    const matches = code < CODE_POINTS && isMatch(code, property, except)
    if (matches !== inside) boundaries.push(code)
    inside = matches
  }
  return boundaries
}

function isMatch(code: number, property: RegExp, except: string): boolean {
  const character = String.fromCodePoint(code)
  return property.test(character) && !except.includes(character)
}

function writeTables(
  file: string,
  { header, tables }: { readonly header: string; readonly tables: readonly Table[] },
): void {
  const parts = tables.map(({ doc, name, boundaries }) => {
    const deltas = boundaries.map((bound, i) => (bound - (boundaries[i - 1] ?? 0)).toString(RADIX))
    return `/** ${doc} */\nexport const ${name} = \`\n${wrap(deltas)}\n\`\n`
  })
  const text = `/**\n * ${header}\n * Written by \`scripts/unicode-ranges.ts\`.\n */\n\n${parts.join('\n')}`
  writeFileSync(new URL(file, PREVIEW), text)
}

function wrap(words: readonly string[]): string {
  const lines: string[] = []
  let line = ''
  for (const word of words) {
    if (line.length + 1 + word.length > LINE_CHARS) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
  }
  return [...lines, line].join('\n')
}
