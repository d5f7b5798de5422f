/**
 * Rust's `{:?}` of a string, as previews show text (vectors: debug_escape). It is not JSON: a NUL is `\0`, an escape
 * `\u{1b}`, and whatever is invisible or joins its neighbour is escaped wherever it stands. The answer depends on the table
 * in `rust-debug-ranges.ts` alone, not on the Unicode version of the runtime.
 */
import { QUOTE_RANGE_DELTAS } from './rust-debug-ranges.ts'

const NOT_PLAIN_ASCII = /[^ !#-[\]-~]/gu
const RADIX_OF_DELTAS = 36
const RADIX_OF_ESCAPES = 16

/** Starts and ends (exclusive) of the escaped ranges, ascending; never written to. */
const BOUNDARIES = decodeDeltas(QUOTE_RANGE_DELTAS)

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

/** Inside a range, an odd number of boundaries lies at or before the code point. */
function isEscaped(codePoint: number): boolean {
  let low = 0
  let high = BOUNDARIES.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((BOUNDARIES[middle] as number) <= codePoint) low = middle + 1
    else high = middle
  }
  return low % 2 === 1
}

function decodeDeltas(deltas: string): Int32Array {
  let sum = 0
  return Int32Array.from(deltas.trim().split(/\s/), (delta) => {
    sum += Number.parseInt(delta, RADIX_OF_DELTAS)
    return sum
  })
}
