/**
 * Logs: lines with a time, a level, or both. Levels are counted over all lines, and the first and
 * last time are told.
 */
import { excerpt } from '../excerpt.ts'
import type { Kind, KindSurvey, Reading, TextWhole } from './kind.ts'
import { LineFeed } from './line-feed.ts'

const LEVEL =
  /\b(TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRITICAL|SEVERE|PANIC)\b|\blevel=(\w+)|"level":"?(\w+)/
const TIME =
  /^\[?(\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?|\d\d:\d\d:\d\d(?:[.,]\d+)?|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})/
const TIME_INSIDE =
  /\[(\d{2}\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\]|(?:time|ts|timestamp)="?(\d{4}-\d\d-\d\d[T ][^" ]+)/
const HEAD_LINES = 200
const LEAST_SHARE = 0.3
const LINE_CHARS = 240
const TIME_BYTES = 48

export const log: Kind = {
  name: 'log',
  recognize({ starts }) {
    const sample = starts.slice(0, HEAD_LINES).filter((line) => line.trim() !== '')
    const marked = sample.filter(
      (line) =>
        timeOf(line) !== undefined ||
        /^\W*(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b/.test(line),
    )
    return sample.length >= 3 && marked.length >= sample.length * LEAST_SHARE
      ? new LogSurvey()
      : undefined
  },
}

class LogSurvey implements KindSurvey {
  readonly #levels = new Map<string, number>()
  readonly #feed = new LineFeed((line) => this.#count(line))

  push(piece: Buffer): void {
    this.#feed.push(piece)
  }

  end({ head, tail }: TextWhole): Reading {
    this.#feed.end()
    const facts: string[] = []
    const levels = [...this.#levels].toSorted((a, b) => rankOf(a[0]) - rankOf(b[0]))
    if (levels.length > 0)
      facts.push(`levels=${levels.map(([level, count]) => `${level}×${count}`).join('|')}`)
    const first = firstTime(head.lines)
    const last = firstTime([...tail].reverse())
    if (first !== undefined) facts.push(`from=${excerpt(first, TIME_BYTES).text}`)
    if (last !== undefined) facts.push(`to=${excerpt(last, TIME_BYTES).text}`)
    return { facts, lines: [] }
  }

  #count(line: string): void {
    const match = LEVEL.exec(line)
    if (match === null) return
    const level = LEVELS.get((match[1] ?? match[2] ?? match[3] ?? '').toUpperCase())
    if (level !== undefined) this.#levels.set(level, (this.#levels.get(level) ?? 0) + 1)
  }
}

/** Spellings of the levels. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ['TRACE', 'TRACE'],
  ['DEBUG', 'DEBUG'],
  ['INFO', 'INFO'],
  ['NOTICE', 'NOTICE'],
  ['WARN', 'WARN'],
  ['WARNING', 'WARN'],
  ['ERROR', 'ERROR'],
  ['ERR', 'ERROR'],
  ['SEVERE', 'ERROR'],
  ['FATAL', 'FATAL'],
  ['CRITICAL', 'FATAL'],
  ['PANIC', 'FATAL'],
])
const ORDER = ['FATAL', 'ERROR', 'WARN', 'NOTICE', 'INFO', 'DEBUG', 'TRACE']
const rankOf = (level: string): number => ORDER.indexOf(level)

function firstTime(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const time = timeOf(line)
    if (time !== undefined) return time
  }
  return undefined
}

function timeOf(line: string): string | undefined {
  const start = TIME.exec(line)
  if (start !== null) return start[1]
  const inside = TIME_INSIDE.exec(line.slice(0, LINE_CHARS))
  return inside?.[1] ?? inside?.[2]
}
