/**
 * How large a string token is when it is spelled as `JSON.stringify` spells it, and how large the text is that it stands
 * for, without decoding it: estimates are made on every request, over all of a transcript.
 */
import { compactBytes, escapeBytes, escapedCode, nextSpecial, utf8Bytes } from '../json/escape.ts'
import { countTails, wordsOf } from '../text.ts'

const BACKSLASH = 0x5c
const QUOTE = 0x22
const TAIL_MASK = 0xc0
const TAIL = 0x80
/** How far a loop looks before four bytes at a time pay. */
const NEAR_BYTES = 32

export interface StringSize {
  /** In its shortest spelling, without the quotes. */
  bytes: number
  chars: number
  /** Of the text, a lone surrogate as U+FFFD. */
  textBytes: number
}

/** Adds the size of the string token that starts at `start` to `size`; the position after the token. */
export function addStringSize(bytes: Uint8Array, start: number, size: StringSize): number {
  const inside = start + 1
  let pos = nearEnd(bytes, inside)
  let plainBytes = pos - inside
  if (bytes[pos] !== QUOTE) {
    const words = wordsOf(bytes)
    const end = bytes.length
    let run = pos
    for (;;) {
      pos = nextSpecial(bytes, words, pos, end)
      plainBytes += pos - run
      if (bytes[pos] !== BACKSLASH) break
      const code = escapedCode(bytes, pos)
      const compact = compactBytes(code)
      const text = utf8Bytes(code)
      size.bytes += compact
      // What stays an escape has a character for each of its bytes.
      size.chars += compact === text ? 1 : compact
      size.textBytes += text
      pos += escapeBytes(bytes, pos, code)
      run = pos
    }
  }
  size.bytes += plainBytes
  // Escapes are ASCII: only plain text has more bytes than characters.
  size.chars += plainBytes - tailsIn(bytes, inside, pos)
  size.textBytes += plainBytes
  return pos + 1
}

/** The next quote or backslash at or after `from`, or where a loop over bytes gives up. */
function nearEnd(bytes: Uint8Array, from: number): number {
  const stop = from + NEAR_BYTES
  let pos = from
  while (pos < stop && bytes[pos] !== QUOTE && bytes[pos] !== BACKSLASH) pos++
  return pos
}

function tailsIn(bytes: Uint8Array, start: number, end: number): number {
  if (end - start > NEAR_BYTES) return countTails(bytes, start, end)
  let tails = 0
  for (let pos = start; pos < end; pos++) if (((bytes[pos] as number) & TAIL_MASK) === TAIL) tails++
  return tails
}
