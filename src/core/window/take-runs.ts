/**
 * Runs of lines of which none has to be shortened, taken at once: an object for each line would cost more than the line. They
 * lie whole in one part of a view; other lines are read one by one, in `take-lines.ts`.
 */
import { WINDOW_LINE_CHARS } from '../limits.ts'
import type { TextSums } from '../text.ts'
import type { Place, ReadLine, Shown } from './take-lines.ts'

const LF = 0x0a
const CR = 0x0d

/**
 * As many lines from a place as lie whole in its part, need not be shortened, and fit in the budget; undefined when there is
 * none.
 */
export function linesFrom({ part, pos, before }: Place, budgetChars: number): ReadLine | undefined {
  const { bytes } = part
  const taken = { lines: 0, crlfs: 0, cost: 0 }
  let end = pos
  let chars = 0
  for (let at = pos; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === LF) {
      if (!addLine(taken, chars, at > end && bytes[at - 1] === CR, budgetChars)) break
      end = at + 1
      chars = 0
    } else if ((byte & 0xc0) !== 0x80 && ++chars > WINDOW_LINE_CHARS) break
  }
  if (taken.lines === 0) return undefined
  const line = joinedLines(bytes, { start: pos, end }, taken)
  return { line, next: { part, pos: end, before: moved(before, taken, 1) } }
}

/** The same of at most `mostLines` lines up to a place, which has to be after a line end, else there is none. */
export function linesUntil(
  { part, pos: end, before: after }: Place,
  budgetChars: number,
  mostLines: number,
): { readonly line: Shown; readonly start: Place } | undefined {
  const { bytes } = part
  if (bytes[end - 1] !== LF) return undefined
  const first = part.before.chars === 0 ? -1 : 0
  const taken = { lines: 0, crlfs: 0, cost: 0 }
  let pos = end
  let chars = 0
  for (let at = end - 2; at >= first && taken.lines < mostLines; at--) {
    // the view begins as if after a line end
    const byte = bytes[at] ?? LF
    if (byte === LF) {
      const isCrlf = at < pos - 2 && bytes[pos - 2] === CR
      if (!addLine(taken, chars, isCrlf, budgetChars)) break
      pos = at + 1
      chars = 0
    } else if ((byte & 0xc0) !== 0x80 && ++chars > WINDOW_LINE_CHARS) break
  }
  if (taken.lines === 0) return undefined
  const line = joinedLines(bytes, { start: pos, end }, taken)
  return { line, start: { part, pos, before: moved(after, taken, -1) } }
}

interface TakenLines {
  lines: number
  crlfs: number
  cost: number
}

/** Takes a line with so many characters before its `\n`; false when it does not fit. */
function addLine(taken: TakenLines, chars: number, isCrlf: boolean, budgetChars: number): boolean {
  const cost = taken.cost + chars + (isCrlf ? 0 : 1)
  if (cost > budgetChars) return false
  taken.cost = cost
  taken.lines++
  if (isCrlf) taken.crlfs++
  return true
}

function joinedLines(
  bytes: Buffer,
  { start, end }: { readonly start: number; readonly end: number },
  { lines, crlfs, cost }: TakenLines,
): Shown {
  const text = bytes.toString('utf8', start, end)
  const joined = crlfs === 0 ? text : text.replaceAll('\r\n', '\n')
  return { text: joined.slice(0, -1), lines, cost, cut: null }
}

function moved(sums: TextSums, { lines, crlfs, cost }: TakenLines, direction: 1 | -1): TextSums {
  return {
    chars: sums.chars + direction * (cost + crlfs),
    newlines: sums.newlines + direction * lines,
    crlfs: sums.crlfs + direction * crlfs,
  }
}
