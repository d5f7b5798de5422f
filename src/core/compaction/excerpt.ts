/**
 * Shortening text for a reader who must know that it was shortened: both ends stay, and a line between them says how much
 * is gone. The newest part, which the end mostly is, gets the larger share.
 */
import { WINDOW_FIFTHS, WINDOW_HEAD_FIFTHS } from '../limits.ts'
import { charsOf, firstChars, lastChars } from '../text.ts'

const SEPARATOR = '\n\n'
/** More than the note can take. */
const NOTE_CHARS = 200

/** `text`, or about `maxChars` code points of its two ends around a note. */
export function bothEnds(text: string, maxChars: number): string {
  const chars = charsOf(text)
  if (chars <= maxChars) return text
  const head = Math.floor((maxChars * WINDOW_HEAD_FIFTHS) / WINDOW_FIFTHS)
  const tail = maxChars - head
  return `${firstChars(text, head)}\n[… ${chars - maxChars} characters left out …]\n${lastChars(text, tail)}`
}

/**
 * What `partOf` gives for each index of `[start, end)`, joined by blank lines, in at most `maxChars` code points: all of
 * it, or the first and the last parts that fit, with a note that names the indices between. The parts between are not
 * even made. Expects room for the note.
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
