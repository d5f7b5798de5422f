/**
 * The window of an over-long text: whole lines from its start and its end, and one line that says which lines were left
 * out and the recall call that returns them. Works on bytes and decodes only what it shows.
 *
 * Line ends inside a window are `\n`, and the final one is dropped; the ledger keeps the text as it came.
 * Parity: window.rs, `vectors/window.jsonl.gz`.
 */
import { VERBATIM_CHARS, WINDOW_FIFTHS, WINDOW_HEAD_FIFTHS, WINDOW_LINE_CHARS } from './limits.ts'
import { advanceChars, charsOf, countChars, countCrlf, measureText } from './text.ts'

const LF = 0x0a
const CR = 0x0d

/** Lines left out: 1-based and inclusive; `chars` counts their characters and one for each line end. */
export interface Omitted {
  readonly start_line: number
  readonly end_line: number
  readonly chars: number
}

/** From the first character that a shortened line does not show to the end of the last shortened line; half-open. */
export interface CutLines {
  readonly lines: number
  readonly start: number
  readonly end: number
  /** The place of the last shortened line among those shown, from 0. */
  readonly lastShown: number
}

export interface WindowPlan {
  readonly head: readonly string[]
  readonly tail: readonly string[]
  readonly omitted: Omitted | null
  readonly cut: CutLines | null
}

export interface WindowOptions {
  /** Most characters of a text that is not windowed, and the budget of a window. */
  readonly limitChars?: number
  /** The 1-based number of the text's first line within its evidence; 0 counts as 1. */
  readonly firstLine?: number
}

interface ShownLine {
  readonly text: string
  readonly costChars: number
  /** Where the line starts in the text, and where it ends without its line end. */
  readonly start: number
  readonly end: number
  /** Bytes of the line that are shown. */
  readonly shownEnd: number
}

/** The window of `text` (valid UTF-8), or undefined when it fits whole. */
export function planWindow(text: Buffer, options: WindowOptions = {}): WindowPlan | undefined {
  const { limitChars = VERBATIM_CHARS, firstLine = 1 } = options
  const { chars, newlines } = measureText(text)
  if (chars <= limitChars) return undefined
  const totalLines = text.at(-1) === LF ? newlines : newlines + 1
  const headBudget = Math.floor((limitChars * WINDOW_HEAD_FIFTHS) / WINDOW_FIFTHS)
  const head = takeHead(text, headBudget)
  const headEnd = head.length === 0 ? 0 : nextLine(text, head[head.length - 1] as ShownLine)
  const tail = takeTail(text, headEnd, limitChars - headBudget)
  const tailStart = tail[0]?.start ?? text.length
  const omittedLines = totalLines - head.length - tail.length
  const start = Math.max(1, firstLine) + head.length
  return {
    head: head.map((line) => line.text),
    tail: tail.map((line) => line.text),
    omitted:
      omittedLines === 0
        ? null
        : {
            start_line: start,
            end_line: start + omittedLines - 1,
            chars: omittedChars(text, headEnd, tailStart, omittedLines),
          },
    cut: cutLines(text, [...head, ...tail]),
  }
}

/**
 * The window as text. `recallId` is pasted as it is (escape it first); null leaves the recall call out. `cutNote` is a line
 * about shortened lines: it stands with the omission note or, without one, after the last line that was shortened.
 */
export function composeWindow(
  plan: WindowPlan,
  recallId: string | null,
  cutNote: string | null = null,
): string {
  const shown = [...plan.head, ...plan.tail]
  const at = plan.omitted === null ? (plan.cut?.lastShown ?? 0) + 1 : plan.head.length
  const notes = [
    ...(plan.omitted === null ? [] : [omissionNote(plan.omitted, recallId)]),
    ...(cutNote === null ? [] : [cutNote]),
  ]
  return [...shown.slice(0, at), ...notes, ...shown.slice(at)].join('\n')
}

function omissionNote(
  { start_line: start, end_line: end, chars }: Omitted,
  recallId: string | null,
): string {
  const span = start === end ? `line ${start}` : `lines ${start}\u2013${end}`
  const recall =
    recallId === null
      ? ''
      : `; recall {"id": "${recallId}", "range": {"start": ${start}, "end": ${end}}} returns them`
  return `[${span} omitted (${chars} chars)${recall}]`
}

function takeHead(text: Buffer, budgetChars: number): ShownLine[] {
  const lines: ShownLine[] = []
  let left = budgetChars
  let start = 0
  while (start < text.length) {
    const lf = text.indexOf(LF, start)
    const line = showLine(text, start, lf < 0 ? text.length : lf, lf >= 0)
    if (line.costChars > left) break
    left -= line.costChars
    lines.push(line)
    start = nextLine(text, line)
  }
  return lines
}

function takeTail(text: Buffer, floor: number, budgetChars: number): ShownLine[] {
  const lines: ShownLine[] = []
  let left = budgetChars
  let end = text.length
  while (end > floor) {
    const ended = text[end - 1] === LF
    const lineEnd = ended ? end - 1 : end
    const start = lineEnd === 0 ? 0 : text.lastIndexOf(LF, lineEnd - 1) + 1
    const line = showLine(text, start, lineEnd, ended)
    if (line.costChars > left) break
    left -= line.costChars
    lines.push(line)
    end = start
  }
  return lines.reverse()
}

/** A line as a window shows it: whole, or its start and how many characters it continues for. */
function showLine(text: Buffer, start: number, lineEnd: number, ended: boolean): ShownLine {
  const end = ended && lineEnd > start && text[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd
  const shownEnd = advanceChars(text, { start, end, chars: WINDOW_LINE_CHARS })
  const shown = text.toString('utf8', start, shownEnd)
  if (shownEnd === end) return { text: shown, costChars: charsOf(shown) + 1, start, end, shownEnd }
  const suffix = ` [line continues for ${countChars(text, shownEnd, end)} more chars]`
  return {
    text: shown + suffix,
    costChars: WINDOW_LINE_CHARS + suffix.length + 1,
    start,
    end,
    shownEnd,
  }
}

/** Where the line after `line` starts. */
function nextLine(text: Buffer, line: ShownLine): number {
  let pos = line.end
  if (text[pos] === CR) pos++
  return Math.min(text.length, pos + 1)
}

function omittedChars(text: Buffer, start: number, end: number, lines: number): number {
  const { chars, newlines } = measureText(text, start, end)
  return chars - newlines - countCrlf(text, start, end) + lines
}

function cutLines(text: Buffer, shown: readonly ShownLine[]): CutLines | null {
  const cut = shown.filter((line) => line.shownEnd < line.end)
  const first = cut[0]
  const last = cut.at(-1)
  if (first === undefined || last === undefined) return null
  const start = countChars(text, 0, first.shownEnd)
  const end = start + countChars(text, first.shownEnd, last.end)
  return { lines: cut.length, start, end, lastShown: shown.indexOf(last) }
}
