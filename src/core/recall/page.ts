/**
 * Pages of a text view: each the exact slice it is, so that pages joined are the whole, and never longer than its limit. A
 * page ends after a whole line; a line that does not fit is cut at a code point, and the rest is asked for by chars.
 */
import { escapeId } from '../handles.ts'
import { advanceChars, countChars, measureText } from '../text.ts'
import type { Asked, Span, ViewSize } from './request.ts'

const LF = 0x0a

export interface RecallPage {
  readonly content: string
  /** The lines it holds, whole or in part; null when it is empty. */
  readonly lines: Span | null
  readonly chars: Span
  /** Where it goes on; for `chars` after a page of lines the end is still to be found: null. */
  readonly next: {
    readonly unit: 'lines' | 'chars'
    readonly start: number
    readonly end: number | null
  } | null
}

/** A stretch of the view, from a known place on. */
export interface ViewPart {
  readonly bytes: Buffer
  /** How many line ends and chars of the view come before. */
  readonly firstLine: number
  readonly firstChar: number
  /** The view ends with it. */
  readonly last: boolean
}

export interface PageLimit {
  readonly maxChars: number
  /** What the note on a page that does not end its range takes of `maxChars`. */
  readonly noteChars: number
}

/** The page at the start of `asked`, or undefined when `part` does not reach far enough to cut it. */
export function cutPage(part: ViewPart, asked: Asked, limit: PageLimit): RecallPage | undefined {
  const start = startOf(part, asked)
  if (start === undefined) return undefined
  const askedEnd = endOf(part, asked, start)
  const wholeEnd = advanceChars(part.bytes, { start, chars: limit.maxChars })
  if (askedEnd !== undefined && askedEnd <= wholeEnd) return pageOf(part, start, askedEnd, null)
  // Neither the range nor a full page ends in this part.
  if (wholeEnd === part.bytes.length) return undefined
  // A page moves on whatever its note takes.
  const chars = Math.max(1, limit.maxChars - limit.noteChars)
  const hard = advanceChars(part.bytes, { start, chars })
  const lineEnd = part.bytes.lastIndexOf(LF, hard - 1) + 1
  return pageOf(part, start, lineEnd > start ? lineEnd : hard, asked)
}

function startOf(part: ViewPart, asked: Asked): number | undefined {
  if (asked.unit === 'lines') return afterNewlines(part, asked.start - 1 - part.firstLine, 0)
  const pos = advanceChars(part.bytes, { chars: asked.start - part.firstChar })
  return pos < part.bytes.length || part.last ? pos : undefined
}

function endOf(part: ViewPart, asked: Asked, start: number): number | undefined {
  if (asked.unit === 'lines') {
    const end = afterNewlines(part, asked.end - asked.start + 1, start)
    return end ?? (part.last ? part.bytes.length : undefined)
  }
  const pos = advanceChars(part.bytes, { start, chars: asked.end - asked.start })
  return pos < part.bytes.length ||
    part.last ||
    countChars(part.bytes, start, pos) === asked.end - asked.start
    ? pos
    : undefined
}

/** Where the line after `count` more line ends starts; undefined when they are not all there. */
function afterNewlines(part: ViewPart, count: number, from: number): number | undefined {
  let pos = from
  for (let n = 0; n < count; n++) {
    const lf = part.bytes.indexOf(LF, pos)
    if (lf < 0) return undefined
    pos = lf + 1
  }
  return pos
}

/** `asked` when the page does not end it. */
function pageOf(part: ViewPart, start: number, end: number, asked: Asked | null): RecallPage {
  const before = measureText(part.bytes, 0, start)
  const inside = measureText(part.bytes, start, end)
  const firstChar = part.firstChar + before.chars
  const chars = { start: firstChar, end: firstChar + inside.chars }
  const firstLine = part.firstLine + before.newlines + 1
  const wholeLines = end > start && part.bytes[end - 1] === LF
  const lastLine = firstLine + inside.newlines - (wholeLines ? 1 : 0)
  return {
    content: part.bytes.toString('utf8', start, end),
    lines: end > start ? { start: firstLine, end: lastLine } : null,
    chars,
    next: asked === null ? null : nextOf(asked, chars.end, lastLine, wholeLines),
  }
}

function nextOf(
  asked: Asked,
  charEnd: number,
  lastLine: number,
  wholeLines: boolean,
): RecallPage['next'] {
  if (asked.unit === 'chars') return { unit: 'chars', start: charEnd, end: asked.end }
  return wholeLines
    ? { unit: 'lines', start: lastLine + 1, end: asked.end }
    : { unit: 'chars', start: charEnd, end: null }
}

/** The literal body of the following call. */
export type RecallCall =
  | { readonly id: string; readonly range: Span }
  | { readonly id: string; readonly chars: Span }

/** The last line of a page that goes on; a line of its own. */
export function continuation(lines: Span, totalLines: number, next: RecallCall): string {
  const span = 'range' in next ? next.range : next.chars
  const unit = 'range' in next ? 'range' : 'chars'
  const call = `{"id": "${escapeId(next.id)}", "${unit}": {"start": ${span.start}, "end": ${span.end}}}`
  return `[lines ${lines.start}\u2013${lines.end} of ${totalLines}; recall ${call} continues]`
}

/** The most chars that {@link continuation} and the line end before it can take for a view of this size. */
export function continuationChars(id: string, { totalLines, totalChars }: ViewSize): number {
  const widest = { start: totalChars, end: totalChars }
  return (
    continuation({ start: totalLines, end: totalLines }, totalLines, { id, range: widest }).length +
    1
  )
}
