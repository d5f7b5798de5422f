/**
 * Lines that tell how things went, wherever in a text they stand: errors, failures, warnings, exit
 * codes, summaries. They are counted over all of a text; the first and the last of each weight are
 * kept. Lines that differ in numbers alone count as one.
 */

import { cleanLine } from './terminal.ts'

/** How much a line matters; the heaviest first. */
export const WEIGHTS = ['outcome', 'error', 'warning'] as const
export type Weight = (typeof WEIGHTS)[number]

export interface NotableLine {
  /** From 1. */
  readonly number: number
  /** Its first {@link LINE_CHARS} characters, without the line end. */
  readonly text: string
  readonly weight: Weight
  /** How many lines say the same but for numbers, this one included. */
  count: number
}

/** Characters kept of one line. */
const LINE_CHARS = 400
/** Most different lines of one weight that are kept from the start, and from the end. */
const KEPT_FIRST = 12
const KEPT_LAST = 6
/** Most different lines that are told apart. */
const TOLD_APART = 512
const LF = 0x0a

/** Words of lines that are looked at closely. Linear, since all of a text is searched. */
const CANDIDATE =
  /error|ERROR|Error|fail|FAIL|Fail|FATAL|fatal|panic|PANIC|Panic|Traceback|xception|WARN|warn|Warn|CRITICAL|imed out|TIMED OUT|TIMEOUT|xited with|xit code|xit status|denied|not found|abort|Abort|Segmentation|passed|npm ERR|Killed|not ok|runcated|omitted|clipped|\xe2\x9c[\x95\x97]/g
const OUTCOME =
  /\b(?:exit(?:ed)?(?: with)? (?:code|status)|exited with|timed out|timeout|process exited|command failed|build (?:failed|succeeded)|segmentation fault|out of memory|killed)\b|\b(?:output|results?|response|content|text|log|file)\b.{0,30}\b(?:truncated|clipped|too (?:long|large))\b|\b\d+ (?:more )?(?:lines?|characters?|chars|bytes|items|rows) (?:were )?(?:omitted|truncated|clipped)|[[<(](?:output |response )?(?:truncated|clipped)|\b\d+ (?:passed|failed|errors?|failures?|warnings?|problems?)\b|^(?:FAILED|PASSED|FAIL|OK)\b/i
const ERROR =
  /\b(?:error|errors|err!|fatal|critical|panic|panicked|exception|traceback|failed|failure|fail|abort(?:ed)?|denied|not found|not ok|cannot|unhandled|undefined reference)\b|\w(?:Error|Exception)\b|✕|✗|❌/i
const WARNING = /\bwarn(?:ing)?s?\b/i
/** Lines that speak of errors without one. */
const HARMLESS =
  /\b(?:0|no|without|zero) (?:errors?|failures?|warnings?|failed)\b|\berrors?[=:] ?0\b/i
const VARIABLE = /0x[0-9a-f]+|\d+/gi

/** Finds notable lines as a text goes by. */
export class NotableLines {
  readonly #known = new Map<string, NotableLine>()
  readonly #counts: Record<Weight, number> = { outcome: 0, error: 0, warning: 0 }
  readonly #last: Record<Weight, NotableLine[]> = { outcome: [], error: [], warning: [] }
  readonly #first: Record<Weight, NotableLine[]> = { outcome: [], error: [], warning: [] }
  #rest = ''
  /** Lines before what is searched next. */
  #lines = 0

  /** The next bytes of the text. */
  push(piece: Buffer): void {
    const end = piece.lastIndexOf(LF) + 1
    if (end === 0) {
      this.#keepRest(piece.toString('latin1'))
      return
    }
    const text = this.#rest + piece.toString('latin1', 0, end)
    this.#search(text)
    this.#rest = ''
    this.#keepRest(piece.toString('latin1', end))
  }

  /** Takes the last line, which has no end. */
  end(): void {
    if (this.#rest !== '') this.#search(`${this.#rest}\n`)
    this.#rest = ''
  }

  /** How many lines have the weight. */
  count(weight: Weight): number {
    return this.#counts[weight]
  }

  /** Kept lines of the weight in the order of the text. */
  lines(weight: Weight): readonly NotableLine[] {
    const first = this.#first[weight]
    return [...first, ...this.#last[weight].filter((line) => !first.includes(line))]
  }

  /** A line that goes on for ever is looked at from its start alone. */
  #keepRest(text: string): void {
    if (this.#rest.length < LINE_CHARS) this.#rest += text.slice(0, LINE_CHARS * 4)
  }

  #search(text: string): void {
    let from = 0
    let lines = this.#lines
    CANDIDATE.lastIndex = 0
    for (let hit = CANDIDATE.exec(text); hit !== null; hit = CANDIDATE.exec(text)) {
      const start = text.lastIndexOf('\n', hit.index) + 1
      const end = text.indexOf('\n', hit.index)
      lines += countLineEnds(text, from, start)
      from = start
      this.#look(text.slice(start, Math.min(end, start + LINE_CHARS)), lines + 1)
      CANDIDATE.lastIndex = end + 1
    }
    this.#lines = lines + countLineEnds(text, from, text.length)
  }

  #look(latin1: string, number: number): void {
    const text = cleanLine(Buffer.from(latin1, 'latin1').toString()).trimEnd()
    const weight = weightOf(text)
    if (weight === undefined) return
    this.#counts[weight]++
    const pattern = text.replace(VARIABLE, '#')
    const known = this.#known.get(pattern)
    if (known !== undefined) {
      known.count++
      return
    }
    const line: NotableLine = { number, text, weight, count: 1 }
    if (this.#known.size < TOLD_APART) this.#known.set(pattern, line)
    if (this.#first[weight].length < KEPT_FIRST) this.#first[weight].push(line)
    else {
      this.#last[weight].push(line)
      if (this.#last[weight].length > KEPT_LAST) this.#last[weight].shift()
    }
  }
}

function weightOf(text: string): Weight | undefined {
  if (OUTCOME.test(text)) return 'outcome'
  if (ERROR.test(text) && !HARMLESS.test(text)) return 'error'
  return WARNING.test(text) && !HARMLESS.test(text) ? 'warning' : undefined
}

function countLineEnds(text: string, from: number, to: number): number {
  let count = 0
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1))
    count++
  return count
}
