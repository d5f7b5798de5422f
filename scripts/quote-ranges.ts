/**
 * Writes `src/core/preview/rust-debug-ranges.ts` from the table that the vectors bring along, so that what a preview escapes is part of
 * the source and does not move with the runtime's Unicode version. Run it when the table changes; it formats nothing else.
 */
import { readFileSync, writeFileSync } from 'node:fs'

const SOURCE = new URL('../test/vectors/debug_escape_ranges.csv', import.meta.url)
const TARGET = new URL('../src/core/preview/rust-debug-ranges.ts', import.meta.url)
const LINE_CHARS = 98
const RADIX = 36

const HEADER = `/**
 * Which code points Rust's \`{:?}\` writes as \`\\u{…}\`: 908 ranges of Unicode 17. Data only; \`quote.ts\` reads it.
 * Written by \`scripts/quote-ranges.ts\`.
 */

/** Where each range begins and where it ends (exclusive), in turn, each as the distance from the one before, base 36. */
export const QUOTE_RANGE_DELTAS = \`
`

/** The ends of all ranges in ascending order: first, last + 1, first, last + 1, … */
function boundaries(csv: string): number[] {
  const rows = csv.split('\n').filter((row) => row !== '')
  return rows.flatMap((row) => {
    const [first = '', last = ''] = row.split(',')
    return [Number.parseInt(first, 16), Number.parseInt(last, 16) + 1]
  })
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

const bounds = boundaries(readFileSync(SOURCE, 'ascii'))
const deltas = bounds.map((bound, i) => (bound - (bounds[i - 1] ?? 0)).toString(RADIX))
writeFileSync(TARGET, `${HEADER}${wrap(deltas)}\n\`\n`)
