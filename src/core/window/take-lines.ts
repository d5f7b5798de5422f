/**
 * The lines that a window shows, taken from the two ends of a view of which only parts are ever at hand: a whole text in
 * memory is one part, a value in the ledger has one for each chunk. What is taken asks for the parts it needs, by a char or a
 * line, so that its cost follows what is shown and not the view: of a long line, its start and the place of its end.
 */
import { WINDOW_LINE_CHARS } from '../limits.ts'
import { advanceChars, charsOf, countChars, type TextSums } from '../text.ts'
import { linesFrom, linesUntil } from './take-runs.ts'

const LF = 0x0a
const CR = 0x0d
const NOTHING: TextSums = { chars: 0, newlines: 0, crlfs: 0 }

/** A part of a view, and what lies before it and before its end. It splits no code point and no CR LF. */
export interface ViewPart {
  readonly bytes: Buffer
  readonly before: TextSums
  readonly after: TextSums
}

/**
 * The part that holds a char of the view; or the last one with fewer than `line - 1` line ends before it, so that the 1-based
 * line starts in it or right after it (the first one for line 1; the last one for a line that is not there).
 */
export type ViewSeek = { readonly char: number } | { readonly line: number }

/** Asks for parts, and answers at last. */
export type Steps<Answer> = Generator<ViewSeek, Answer, ViewPart>

export interface ViewSize {
  readonly chars: number
  /** As Rust's `str::lines` counts them. */
  readonly lines: number
}

/** Lines that follow each other, as a window shows them. */
export interface Shown {
  /** Joined by `\n`, which the last one has not. */
  readonly text: string
  readonly lines: number
  /** What it costs of a budget: its characters, and one. */
  readonly cost: number
  /** The places of the characters that are not shown, where it is one line that was shortened. Half-open. */
  readonly cut: { readonly start: number; readonly end: number } | null
}

export interface Taken {
  readonly shown: readonly Shown[]
  readonly lines: number
  /** What lies before the inner edge of what was taken. */
  readonly edge: TextSums
}

/** A line's start: a place in a part. */
export interface Place {
  readonly part: ViewPart
  readonly pos: number
  /** What lies before it. */
  readonly before: TextSums
}

export interface ReadLine {
  readonly line: Shown
  /** After its line end. */
  readonly next: Place
}

/** The lines at the start that fit in a budget; each costs what it shows, and one. */
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

/** The lines at the end that fit in a budget, in their order; none of the first `floor` lines. */
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

/** Line `n`, counted from 0, which ends at a place. */
function* lineUntil(
  { part, pos, before }: Place,
  n: number,
  size: ViewSize,
): Steps<{ readonly line: Shown; readonly start: Place }> {
  const start = startInPart(part, pos, before) ?? (yield* startOfLine(n))
  const { line } = yield* readLine(start, size.chars)
  return { line, start }
}

/** The start of the line that ends at `end`; undefined when it is not in this part. */
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

/** The start of line `n`, counted from 0, which does not end in the part where it starts. */
function* startOfLine(n: number): Steps<Place> {
  const part = yield { line: n + 1 }
  const pos = part.bytes.lastIndexOf(LF) + 1
  const chars = part.after.chars - countChars(part.bytes, pos)
  return { part, pos, before: { ...part.after, chars } }
}

/** The line that starts at a place. */
function* readLine(start: Place, totalChars: number): Steps<ReadLine> {
  const { before } = start
  let { part, pos } = start
  while (part.after.chars < totalChars && !part.bytes.includes(LF, pos)) {
    // More than is shown, even if its last character is the CR of the line end.
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

/** How many chars of the view come before a place in a part; counted from the nearest place where that is known. */
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

/** A line that goes on past its part, and past what is shown of it. */
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
  /** None at the end of the view, one of `\n`, two of `\r\n`. */
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
