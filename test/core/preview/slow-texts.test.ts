// Fault: texts of one repeated pattern made the patterns of kinds backtrack: 51 KB held a call for 40 s. Each shape is judged by
// the processor time of its preview, with a margin of some hundred times on an idle machine.
import { expect, it } from 'vitest'
import { previewExtendedText } from '../../../src/core/preview/text-preview.ts'

const BYTES = 250_000
const MOST_CPU_MS = 5_000
const lines = (line: string): string => `${line}\n`.repeat(Math.ceil(BYTES / (line.length + 1)))

const SHAPES: Readonly<Record<string, string>> = {
  'one line of signs': '='.repeat(BYTES),
  'lines of signs': lines('='.repeat(399)),
  'words of a test run': lines(`${'test '.repeat(26)}${'1 '.repeat(130)}error`),
  'open brackets of a frame': lines(`at ${'('.repeat(9_000)}`),
  'colons of a frame': lines(`at ${':'.repeat(390)}`),
  'places of a frame': lines(`at x${':1'.repeat(190)}x`),
  'open brackets of a link': lines(`x${'['.repeat(390)}`),
  'open tags': `<!doctype html>\n${lines('<h1'.repeat(130))}`,
  'capitals of an error': lines(`error ${'A'.repeat(390)}`),
  spaces: ' '.repeat(BYTES),
  'carriage returns': `${'\r'.repeat(BYTES)}x`,
  'digits of a cell': `a,b\n1,2\n3,${'1'.repeat(BYTES)}x\n4,5\n`,
  quotes: `a,b\n${'"'.repeat(BYTES)}`,
  'control sequences': '\u001b[0000'.repeat(BYTES / 6),
  columns: `${'a,'.repeat(BYTES / 12)}b\n`.repeat(6),
  'brackets of a declaration': lines(`foo${'('.repeat(100)}${')'.repeat(100)} {`),
}

it.each(Object.entries(SHAPES))('a preview takes linear time for %s', (_, text) => {
  const bytes = Buffer.from(text)
  const before = process.cpuUsage()
  const preview = previewExtendedText(bytes, 1_000)
  const { user, system } = process.cpuUsage(before)
  expect(Buffer.byteLength(preview)).toBeLessThanOrEqual(1_000)
  expect((user + system) / 1_000).toBeLessThan(MOST_CPU_MS)
})
