/**
 * Rust's `{:?}` of a string, as previews show text (vectors: debug_escape). It is not JSON: a NUL
 * is `\0`, an escape `\u{1b}`, and whatever is invisible or joins its neighbour is escaped wherever
 * it stands. The answer depends on the table in `rust-debug-ranges.ts` alone, not on the Unicode
 * version of the runtime.
 */
import { codePointSet } from './code-point-set.ts'
import { QUOTE_RANGE_DELTAS } from './rust-debug-ranges.ts'

const NOT_PLAIN_ASCII = /[^ !#-[\]-~]/gu
const RADIX_OF_ESCAPES = 16

const isEscaped = codePointSet(QUOTE_RANGE_DELTAS)

/** `text` in double quotes; a lone surrogate counts as U+FFFD, so the answer is well-formed. */
export function quote(text: string): string {
  return `"${text.toWellFormed().replace(NOT_PLAIN_ASCII, quoteCodePoint)}"`
}

function quoteCodePoint(character: string): string {
  switch (character) {
    case '\0':
      return '\\0'
    case '\t':
      return '\\t'
    case '\n':
      return '\\n'
    case '\r':
      return '\\r'
    case '"':
      return '\\"'
    case '\\':
      return '\\\\'
    default: {
      const codePoint = character.codePointAt(0) as number
      return isEscaped(codePoint) ? `\\u{${codePoint.toString(RADIX_OF_ESCAPES)}}` : character
    }
  }
}
