/**
 * Pages of a text view. A page is an exact slice of the view, so joined pages are the whole, and it
 * is never longer than its limit. A page ends after a whole line. A line that does not fit is cut
 * at a code point, and its rest is read by characters.
 */
import { escapeId } from '../handles.ts'
import { advanceChars, countChars, measureText } from '../text.ts'
import type { Asked, Span, ViewSize } from './request.ts'

const LF = 0x0a

export interface RecallPage {
  readonly content: string
  /** Lines in it, whole or in part; null when it is empty. */
  readonly lines: Span | null
  readonly chars: Span
  /**
   * Range of the next page. For characters after a page of lines its end is not known yet: null.
   */
  readonly next: {
    readonly unit: 'lines' | 'chars'
    readonly start: number
    readonly end: number | null
  } | null
}

/** A part of the view whose start is known. */
export interface ViewPart {
  readonly bytes: Buffer
  /** Line ends and characters of the view before it. */
  readonly firstLine: number
  readonly firstChar: number
  /** True when the view ends with it. */
  readonly last: boolean
}

export interface PageLimit {
  readonly maxChars: number
  /** Characters of `maxChars` that the note takes on a page that does not end its range. */
  readonly noteChars: number
}

/**
 * The page at the start of `asked`. Undefined when `part` is too short to decide where it ends.
 *
 * @example cutPage({ bytes: bytes('a\nb\n'), firstLine: 0, firstChar: 0, last: true }, { unit: 'lines', start: 1, end: 2 }, { maxChars: 9, noteChars: 0 }).next // null
 */
export function cutPage(part: ViewPart, asked: Asked, limit: PageLimit): RecallPage | undefined {
  const start = startOf(part, asked)
  if (start === undefined) return undefined
  const askedEnd = endOf(part, asked, start)
  const wholeEnd = advanceChars(part.bytes, { start, chars: limit.maxChars })
  if (askedEnd !== undefined && askedEnd <= wholeEnd) return pageOf(part, start, askedEnd, null)
  // Neither the range nor a full page ends in this part.
  if (wholeEnd === part.bytes.length) return undefined
  // A page holds at least one character, whatever its note takes.
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

/** Position after `count` more line ends; undefined when the part has fewer. */
function afterNewlines(part: ViewPart, count: number, from: number): number | undefined {
  let pos = from
  for (let n = 0; n < count; n++) {
    const lf = part.bytes.indexOf(LF, pos)
    if (lf < 0) return undefined
    pos = lf + 1
  }
  return pos
}

/** Makes the page `[start, end)` of a part. `asked` is null when the page ends the range. */
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

/** Body of the next recall call. */
export type RecallCall =
  | { readonly id: string; readonly range: Span }
  | { readonly id: string; readonly chars: Span }

/**
 * Note at the end of a page that has a next one; a line of its own.
 *
 * @example continuation({ start: 1, end: 2 }, 9, { id: 't', range: { start: 3, end: 9 } }) // '[lines 1–2 of 9; recall {"id": "t", "range": {"start": 3, "end": 9}} continues]'
 */
export function continuation(lines: Span, totalLines: number, next: RecallCall): string {
  const span = 'range' in next ? next.range : next.chars
  const unit = 'range' in next ? 'range' : 'chars'
  const call = `{"id": "${escapeId(next.id)}", "${unit}": {"start": ${span.start}, "end": ${span.end}}}`
  return `[lines ${lines.start}\u2013${lines.end} of ${totalLines}; recall ${call} continues]`
}

/**
 * Most characters of {@link continuation}, with the line end before it, for a view of this size.
 *
 * @example continuationChars('t', { totalLines: 9, totalChars: 9 }) // 80
 */
export function continuationChars(id: string, { totalLines, totalChars }: ViewSize): number {
  const widest = { start: totalChars, end: totalChars }
  return (
    continuation({ start: totalLines, end: totalLines }, totalLines, { id, range: widest }).length +
    1
  )
}
