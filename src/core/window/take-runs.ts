/**
 * Takes runs of lines that need no shortening and lie in one part of a view. A run is one object,
 * since an object for each line would cost more than the line. Other lines are read one by one in
 * `take-lines.ts`.
 */
import { WINDOW_LINE_CHARS } from '../limits.ts'
import type { TextSums } from '../text.ts'
import type { Place, ReadLine, Shown } from './take-lines.ts'

const LF = 0x0a
const CR = 0x0d

/**
 * Takes lines forward from a place while they lie in its part, need no shortening and fit in the
 * budget. Undefined when there is none.
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

/** As {@link linesFrom}, backwards from a place after a line end, and at most `mostLines` lines. */
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
    // The start of the view counts as after a line end.
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

/** Adds a line with `chars` characters before its `\n`. Returns false when it does not fit. */
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
