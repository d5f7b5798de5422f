/**
 * Takes the lines of a window from both ends of a view. The view is read in parts: a text in memory
 * is one part, a value in the ledger has one for each chunk. Generators ask for the parts they
 * need, by character or line, so the cost depends on what is shown and not on the size of the view.
 * Of a long line only its start and the position of its end are read.
 */
import { WINDOW_LINE_CHARS } from '../limits.ts'
import { advanceChars, charsOf, countChars, type TextSums } from '../text.ts'
import { linesFrom, linesUntil } from './take-runs.ts'

const LF = 0x0a
const CR = 0x0d
const NOTHING: TextSums = { chars: 0, newlines: 0, crlfs: 0 }

/**
 * A part of a view, with the sums before its start and before its end. It splits no code point and
 * no CR LF.
 */
export interface ViewPart {
  readonly bytes: Buffer
  readonly before: TextSums
  readonly after: TextSums
}

/**
 * Asks for the part that holds a character, or for the part in which a 1-based line starts or right
 * after which it starts. That is the last part with fewer than `line - 1` line ends before it; the
 * first part for line 1, the last part past the end.
 */
export type ViewSeek = { readonly char: number } | { readonly line: number }

/** A computation that asks for parts of a view and returns an answer. */
export type Steps<Answer> = Generator<ViewSeek, Answer, ViewPart>

export interface ViewSize {
  readonly chars: number
  /** As Rust's `str::lines` counts them. */
  readonly lines: number
}

/** Consecutive lines as a window shows them. */
export interface Shown {
  /** Lines joined by `\n`, without a final one. */
  readonly text: string
  readonly lines: number
  /** Characters that it takes from a budget: those of each line, and one for each line end. */
  readonly cost: number
  /**
   * Characters that are not shown of a shortened line: positions in the view, half-open. Null for
   * whole lines.
   */
  readonly cut: { readonly start: number; readonly end: number } | null
}

export interface Taken {
  readonly shown: readonly Shown[]
  readonly lines: number
  /** Sums before the inner edge of the lines. */
  readonly edge: TextSums
}

/** Start of a line: a position in a part. */
export interface Place {
  readonly part: ViewPart
  readonly pos: number
  /** Sums before it. */
  readonly before: TextSums
}

export interface ReadLine {
  readonly line: Shown
  /** Start of the next line. */
  readonly next: Place
}

/** Takes lines from the start of the view while they fit in the budget. */
export function* takeHead(size: ViewSize, budgetChars: number): Steps<Taken> {
  const shown: Shown[] = []
  let left = budgetChars
  let place: Place = { part: yield { char: 0 }, pos: 0, before: NOTHING }
  while (place.before.chars < size.chars) {
    const { line, next } = linesFrom(place, left) ?? (yield* readLine(place, size.chars))
    left -= line.cost
    if (left < 0) break
    shown.push(line)
    place = next
  }
  return { shown, lines: linesIn(shown), edge: place.before }
}

/**
 * Takes lines from the end of the view while they fit in the budget, but none of the first `floor`
 * lines.
 */
export function* takeTail(size: ViewSize, floor: number, budgetChars: number): Steps<Taken> {
  const shown: Shown[] = []
  let left = budgetChars
  let leftLines = size.lines - floor
  const part = yield { char: size.chars - 1 }
  let place: Place = { part, pos: part.bytes.length, before: part.after }
  while (leftLines > 0) {
    const { line, start } =
      linesUntil(place, left, leftLines) ?? (yield* lineUntil(place, floor + leftLines - 1, size))
    left -= line.cost
    if (left < 0) break
    leftLines -= line.lines
    shown.push(line)
    place = start
  }
  return { shown: shown.reverse(), lines: linesIn(shown), edge: place.before }
}

export const linesIn = (shown: readonly Shown[]): number =>
  shown.reduce((lines, piece) => lines + piece.lines, 0)

/** Reads line `n` (from 0) backwards from its end. */
function* lineUntil(
  { part, pos, before }: Place,
  n: number,
  size: ViewSize,
): Steps<{ readonly line: Shown; readonly start: Place }> {
  const start = startInPart(part, pos, before) ?? (yield* startOfLine(n))
  const { line } = yield* readLine(start, size.chars)
  return { line, start }
}

/** Start of the line that ends at `end`; undefined when it lies before this part. */
function startInPart(part: ViewPart, end: number, after: TextSums): Place | undefined {
  const { bytes, before } = part
  const last = bytes[end - 1] === LF ? end - 1 : end
  const pos = last === 0 ? 0 : bytes.lastIndexOf(LF, last - 1) + 1
  if (pos === 0) return before.chars === 0 ? { part, pos, before } : undefined
  const ended = last < end
  const crlf = ended && last > pos && bytes[last - 1] === CR
  return {
    part,
    pos,
    before: {
      chars: charsBefore(part, pos, { pos: end, chars: after.chars }),
      newlines: after.newlines - (ended ? 1 : 0),
      crlfs: after.crlfs - (crlf ? 1 : 0),
    },
  }
}

/** Finds the start of line `n` (from 0), which ends in a later part. */
function* startOfLine(n: number): Steps<Place> {
  const part = yield { line: n + 1 }
  const pos = part.bytes.lastIndexOf(LF) + 1
  const chars = part.after.chars - countChars(part.bytes, pos)
  return { part, pos, before: { ...part.after, chars } }
}

/** Reads the line that starts at `start`. */
function* readLine(start: Place, totalChars: number): Steps<ReadLine> {
  const { before } = start
  let { part, pos } = start
  while (part.after.chars < totalChars && !part.bytes.includes(LF, pos)) {
    // Longer than what is shown, even if its last character is the CR of the line end.
    if (part.after.chars - before.chars > WINDOW_LINE_CHARS + 1) {
      return yield* longLine({ part, pos, before })
    }
    const { bytes, after } = yield { char: part.after.chars }
    part = { bytes: Buffer.concat([part.bytes.subarray(pos), bytes]), before, after }
    pos = 0
  }
  return wholeLine({ part, pos, before })
}

function wholeLine({ part, pos, before }: Place): ReadLine {
  const { bytes } = part
  const end = lineEnd(bytes, pos)
  const shownEnd = advanceChars(bytes, { start: pos, end: end.pos, chars: WINDOW_LINE_CHARS })
  const shown = bytes.toString('utf8', pos, shownEnd)
  const shownUntil = { pos: shownEnd, chars: before.chars + charsOf(shown) }
  const hiddenChars = charsBefore(part, end.pos, shownUntil) - shownUntil.chars
  return lineOf(shown, hiddenChars, { before, part, end })
}

/** Characters of the view before a position, counted from the nearer end of its part. */
function charsBefore(
  { bytes, before, after }: ViewPart,
  pos: number,
  known: { readonly pos: number; readonly chars: number },
): number {
  const ends = { pos: bytes.length, chars: after.chars }
  const places = [known, { pos: 0, chars: before.chars }, ends]
  const near = places.reduce((a, b) => (Math.abs(b.pos - pos) < Math.abs(a.pos - pos) ? b : a))
  return near.pos <= pos
    ? near.chars + countChars(bytes, near.pos, pos)
    : near.chars - countChars(bytes, pos, near.pos)
}

/** Reads a line that is longer than what is shown and continues in later parts. */
function* longLine({ part, pos, before }: Place): Steps<ReadLine> {
  const shownEnd = advanceChars(part.bytes, { start: pos, chars: WINDOW_LINE_CHARS })
  const shown = part.bytes.toString('utf8', pos, shownEnd)
  const last = yield { line: before.newlines + 2 }
  const end = lineEnd(last.bytes, 0)
  const endChars = last.before.chars + countChars(last.bytes, 0, end.pos)
  const hiddenChars = endChars - before.chars - WINDOW_LINE_CHARS
  return lineOf(shown, hiddenChars, { before, part: last, end })
}

interface LineEnd {
  readonly pos: number
  /** 0 at the end of the view, 1 for `\n`, 2 for `\r\n`. */
  readonly chars: number
}

function lineEnd(bytes: Buffer, start: number): LineEnd {
  const lf = bytes.indexOf(LF, start)
  if (lf < 0) return { pos: bytes.length, chars: 0 }
  return lf > start && bytes[lf - 1] === CR ? { pos: lf - 1, chars: 2 } : { pos: lf, chars: 1 }
}

function lineOf(
  shown: string,
  hiddenChars: number,
  at: { readonly before: TextSums; readonly part: ViewPart; readonly end: LineEnd },
): ReadLine {
  const { before, part, end } = at
  const shownChars = charsOf(shown)
  const chars = shownChars + hiddenChars
  const isWhole = hiddenChars === 0
  const text = isWhole ? shown : `${shown} [line continues for ${hiddenChars} more chars]`
  const cut = isWhole ? null : { start: before.chars + shownChars, end: before.chars + chars }
  const after: TextSums = {
    chars: before.chars + chars + end.chars,
    newlines: before.newlines + (end.chars > 0 ? 1 : 0),
    crlfs: before.crlfs + (end.chars === 2 ? 1 : 0),
  }
  return {
    line: { text, lines: 1, cost: charsOf(text) + 1, cut },
    next: { part, pos: end.pos + end.chars, before: after },
  }
}
