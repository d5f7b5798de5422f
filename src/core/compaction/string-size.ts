/**
 * Measures a string token as `JSON.stringify` spells it, and its text, without decoding it.
 * Estimates run on every request over a whole transcript.
 */
import { compactBytes, escapeBytes, escapedCode, nextSpecial, utf8Bytes } from '../json/escape.ts'

const BACKSLASH = 0x5c

/** Sums over string tokens. */
export interface StringSize {
  /** Bytes in the shortest spelling, without quotes. */
  bytes: number
  /** UTF-8 bytes of the text, a lone surrogate as U+FFFD. */
  textBytes: number
  /** Bytes minus code points of the characters that escapes stand for. */
  escapedTails: number
}

/**
 * Adds the size of the string token at `start` to `size`. Returns the position after the token.
 * `words` is `wordsOf(bytes)`.
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
    // A character that stays an escape has one character for each byte.
    if (compact === text) size.escapedTails += text - 1
    pos = special + escapeBytes(bytes, special, code)
  }
}
