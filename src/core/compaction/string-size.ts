/**
 * How large a string token is when it is spelled as `JSON.stringify` spells it, and how large the text is that it stands
 * for, without decoding it: estimates are made on every request, over all of a transcript.
 */
import { compactBytes, escapeBytes, escapedCode, nextSpecial, utf8Bytes } from '../json/escape.ts'

const BACKSLASH = 0x5c

export interface StringSize {
  /** In its shortest spelling, without the quotes. */
  bytes: number
  /** Of the text, a lone surrogate as U+FFFD. */
  textBytes: number
  /** By how much the code points that escapes stand for are fewer than their bytes. */
  escapedTails: number
}

/**
 * Adds the size of the string token that starts at `start` to `size`; the position after the token. `words` is
 * `wordsOf(bytes)`.
 */
export function addStringSize(
  bytes: Uint8Array,
  words: Int32Array,
  start: number,
  size: StringSize,
): number {
  const end = bytes.length
  let pos = start + 1
  for (;;) {
    const special = nextSpecial(bytes, words, pos, end)
    size.bytes += special - pos
    size.textBytes += special - pos
    if (bytes[special] !== BACKSLASH) return special + 1
    const code = escapedCode(bytes, special)
    const compact = compactBytes(code)
    const text = utf8Bytes(code)
    size.bytes += compact
    size.textBytes += text
    // What stays an escape has a character for each of its bytes.
    if (compact === text) size.escapedTails += text - 1
    pos = special + escapeBytes(bytes, special, code)
  }
}
