/**
 * Rough token counts, without a tokenizer: they decide when to act, not what a provider will charge. Tool definitions
 * and the system prompt are not among the messages and are not counted.
 */
import type { JsonSlice } from '../json/slice.ts'
import { TOKEN_CHARS, WORD_TOKENS } from '../limits.ts'
import { charsOf, wordsOf } from '../text.ts'
import { addStringSize, type StringSize } from './string-size.ts'

const QUOTE = 0x22
const SPACE = 0x20
const QUOTES = 2
const BLANK = /\p{White_Space}/u

export interface CompactSize {
  readonly bytes: number
  readonly chars: number
}

/** The estimate of so many code points. */
export const tokensOf = (chars: number): number => Math.ceil(chars / TOKEN_CHARS)

/** One token for every four code points begun. */
export function estimateText(text: string): number {
  return tokensOf(charsOf(text))
}

/** The estimate of a request: {@link estimateText} of the messages' compact JSON. */
export function estimateMessages(messages: JsonSlice): number {
  return tokensOf(messagesChars(messages))
}

/** The code points of the messages' compact JSON: as a scan noted them, where no repeated key is left out of its count. */
export function messagesChars(messages: JsonSlice): number {
  const { outline, tails } = messages
  if (outline === undefined || outline.hasRepeats) return compactSize(messages).chars
  return outline.compactBytes - outline.escapedTails - tails
}

/**
 * The size of `value` as compact JSON: no white space, shortest escapes, so that a client's spelling (indented, or ASCII
 * only) does not move an estimate. One pass over the bytes that decodes nothing; repeated keys all count.
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

export interface ContentSize {
  /** What a model gets of it: a string's text, anything else as compact JSON; nothing of null. */
  readonly bytes: number
  /** Code points of its compact JSON. */
  readonly compactChars: number
}

/** The size of a tool result's content. */
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

/** Tokens of prose: by characters or by words, whichever gives more. Words as Rust's `split_whitespace` has them. */
export function approxTokens(text: string): number {
  return Math.max(estimateText(text), Math.ceil(countWords(text) * WORD_TOKENS))
}

function countWords(text: string): number {
  const word = /\P{White_Space}+/gu
  let words = 0
  while (word.test(text)) words++
  return words
}

/** As Rust's `str::trim`: by Unicode White_Space, which has U+0085 and not U+FEFF; JavaScript's `trim` has the reverse. */
export function trimBlank(text: string): string {
  let start = 0
  let end = text.length
  // Past either end there is an empty string, which is not blank.
  while (BLANK.test(text.charAt(start))) start++
  while (BLANK.test(text.charAt(end - 1))) end--
  return text.slice(start, end)
}
