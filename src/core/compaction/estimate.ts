/**
 * Rough token counts without a tokenizer. They decide when to act, not what a provider charges.
 * Tool definitions and the system prompt are not among the messages and are not counted.
 */
import type { JsonSlice } from '../json/slice.ts'
import { TOKEN_CHARS, WORD_TOKENS } from '../limits.ts'
import { charsOf, wordsOf } from '../text.ts'
import { addStringSize, type StringSize } from './string-size.ts'

const QUOTE = 0x22
const SPACE = 0x20
const QUOTES = 2
const BLANK = /\p{White_Space}/u

/** Size of a value as compact JSON. */
export interface CompactSize {
  readonly bytes: number
  readonly chars: number
}

/** Estimated tokens of a number of code points. */
export const tokensOf = (chars: number): number => Math.ceil(chars / TOKEN_CHARS)

/**
 * Estimated tokens of a text: its code points divided by four, rounded up.
 *
 * @example estimateText('12345') // 2
 */
export function estimateText(text: string): number {
  return tokensOf(charsOf(text))
}

/**
 * Estimated tokens of a request: {@link estimateText} of the messages' compact JSON.
 *
 * @example estimateMessages(json('[{"role": "user"}]')) // 5
 */
export function estimateMessages(messages: JsonSlice): number {
  return tokensOf(messagesChars(messages))
}

/** Code points of the messages' compact JSON, from the scan's outline unless keys are repeated. */
export function messagesChars(messages: JsonSlice): number {
  const { outline, tails } = messages
  if (outline === undefined || outline.hasRepeats) return compactSize(messages).chars
  return outline.compactBytes - outline.escapedTails - tails
}

/**
 * Measures `value` as compact JSON, without white space and with the shortest escapes. So a
 * client's spelling, such as indented or ASCII only, does not change an estimate. One pass that
 * decodes nothing. Every member counts, also one whose key is repeated.
 */
export function compactSize(value: JsonSlice): CompactSize {
  const { bytes, end } = value
  const words = wordsOf(bytes)
  const strings: StringSize = { bytes: 0, textBytes: 0, escapedTails: 0 }
  let others = 0
  let pos = value.start
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte === QUOTE) {
      others += QUOTES
      pos = addStringSize(bytes, words, pos, strings)
    } else {
      if (byte > SPACE) others++
      pos++
    }
  }
  const size = strings.bytes + others
  return { bytes: size, chars: size - strings.escapedTails - value.tails }
}

/** Size of a tool result's content. */
export interface ContentSize {
  /** Bytes that a model gets: a string's text, or compact JSON; 0 for null. */
  readonly bytes: number
  /** Code points of its compact JSON. */
  readonly compactChars: number
}

/** Measures a tool result's content. */
export function contentSize(content: JsonSlice): ContentSize {
  if (content.kind !== 'string') {
    const { bytes, chars } = compactSize(content)
    return { bytes: content.kind === 'null' ? 0 : bytes, compactChars: chars }
  }
  const { bytes, start, tails } = content
  const size: StringSize = { bytes: QUOTES, textBytes: 0, escapedTails: 0 }
  addStringSize(bytes, wordsOf(bytes), start, size)
  return { bytes: size.textBytes, compactChars: size.bytes - size.escapedTails - tails }
}

/**
 * Estimated tokens of prose, by characters or by words, whichever gives more. Words are those of
 * Rust's `split_whitespace`.
 */
export function approxTokens(text: string): number {
  return Math.max(estimateText(text), Math.ceil(countWords(text) * WORD_TOKENS))
}

function countWords(text: string): number {
  const word = /\P{White_Space}+/gu
  let words = 0
  while (word.test(text)) words++
  return words
}

/**
 * Trims as Rust's `str::trim` does: Unicode White_Space includes U+0085 and not U+FEFF;
 * JavaScript's `trim` is the reverse.
 */
export function trimBlank(text: string): string {
  let start = 0
  let end = text.length
  // `charAt` past either end gives an empty string, which is not blank.
  while (BLANK.test(text.charAt(start))) start++
  while (BLANK.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
