/**
 * Shortens text so that its reader can see it: both ends stay, and a line between them says how
 * much was left out. The end gets the larger share, since it is mostly the newest part.
 */
import { WINDOW_FIFTHS, WINDOW_HEAD_FIFTHS } from '../limits.ts'
import { charsOf, firstChars, lastChars } from '../text.ts'

const SEPARATOR = '\n\n'
/** More characters than the note takes. */
const NOTE_CHARS = 200

/** `text`, or about `maxChars` code points of its two ends with a note between them. */
export function bothEnds(text: string, maxChars: number): string {
  const chars = charsOf(text)
  if (chars <= maxChars) return text
  const head = Math.floor((maxChars * WINDOW_HEAD_FIFTHS) / WINDOW_FIFTHS)
  const tail = maxChars - head
  return `${firstChars(text, head)}\n[… ${chars - maxChars} characters left out …]\n${lastChars(text, tail)}`
}

/**
 * Joins the parts `partOf(index)` for the indices `[start, end)` by blank lines, in at most
 * `maxChars` code points. When not all fit, the first and last parts that fit stand around a note
 * that names the indices between; those parts are not made. `maxChars` must have room for the note.
 */
export function joinBothEnds(
  range: { readonly start: number; readonly end: number },
  partOf: (index: number) => string,
  maxChars: number,
): string {
  const head: string[] = []
  const tail: string[] = []
  let left = maxChars - NOTE_CHARS
  const takes = (parts: string[], part: string, room: number): boolean => {
    const size = charsOf(part) + SEPARATOR.length
    if (size > room) return false
    left -= size
    parts.push(part)
    return true
  }
  const reserved = left - Math.floor((left * WINDOW_HEAD_FIFTHS) / WINDOW_FIFTHS)
  let first = range.start
  let last = range.end
  while (first < last && takes(head, partOf(first), left - reserved)) first++
  while (last > first && takes(tail, partOf(last - 1), left)) last--
  const note = `[… messages ${first} to ${last - 1} left out here …]`
  return [...head, ...(first < last ? [note] : []), ...tail.reverse()].join(SEPARATOR)
}
