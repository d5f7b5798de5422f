/**
 * Reads one escape of a validated string token in place, and tells the size of its code point: in
 * UTF-8 text, where a lone surrogate is shown as U+FFFD, and in compact JSON, where a lone
 * surrogate stays an escape.
 */
const BACKSLASH = 0x5c
const QUOTE = 0x22
const LOWER_U = 0x75
const CONTROL_END = 0x20
const SHORT_ESCAPE_BYTES = 2
/**
 * Bytes of `\uXXXX`. Controls without a short escape, and lone surrogates, take as many in compact
 * JSON.
 */
export const UNICODE_ESCAPE_BYTES = 6

const HIGH_SURROGATE = 0xd800
const LOW_SURROGATE = 0xdc00
const SURROGATE_END = 0xe000
const ONE_BYTE_END = 0x80
const TWO_BYTE_END = 0x800
const THREE_BYTE_END = 0x10000

const WORD_BYTES = 4
const WORD_MASK = 3

/**
 * Position of the first quote or backslash in `[from, until)`, or `until`. Reads four bytes at a
 * time where they are aligned. `words` is `wordsOf(bytes)`.
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a loop over bytes; calls in it would cost as much again
export function nextSpecial(
  bytes: Uint8Array,
  words: Int32Array,
  from: number,
  until: number,
): number {
  const base = bytes.byteOffset
  const last = until - WORD_BYTES
  let pos = from
  while (pos < until) {
    if (((base + pos) & WORD_MASK) === 0) {
      while (pos <= last) {
        const word = words[(base + pos) >>> 2] as number
        const quote = word ^ 0x22222222
        const backslash = word ^ 0x5c5c5c5c
        const found = ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash)
        if ((found & 0x80808080) !== 0) break
        pos += WORD_BYTES
      }
      if (pos >= until) return until
    }
    const byte = bytes[pos] as number
    if (byte === QUOTE || byte === BACKSLASH) return pos
    pos++
  }
  return until
}

const isSurrogate = (code: number): boolean => code >= HIGH_SURROGATE && code < SURROGATE_END

/**
 * The code point of the escape at `pos`. A surrogate pair gives one code point; a lone surrogate
 * gives itself.
 */
export function escapedCode(bytes: Uint8Array, pos: number): number {
  const letter = bytes[pos + 1] as number
  if (letter !== LOWER_U) return shortEscape(letter)
  const unit = hexUnit(bytes, pos + SHORT_ESCAPE_BYTES)
  if (unit < HIGH_SURROGATE || unit >= LOW_SURROGATE) return unit
  const next = pos + UNICODE_ESCAPE_BYTES
  if (bytes[next] !== BACKSLASH || bytes[next + 1] !== LOWER_U) return unit
  const low = hexUnit(bytes, next + SHORT_ESCAPE_BYTES)
  if (low < LOW_SURROGATE || low >= SURROGATE_END) return unit
  return THREE_BYTE_END + ((unit - HIGH_SURROGATE) << 10) + (low - LOW_SURROGATE)
}

/** Source bytes of the escape at `pos`, whose code point is `code`. */
export function escapeBytes(bytes: Uint8Array, pos: number, code: number): number {
  if (bytes[pos + 1] !== LOWER_U) return SHORT_ESCAPE_BYTES
  return code < THREE_BYTE_END ? UNICODE_ESCAPE_BYTES : 2 * UNICODE_ESCAPE_BYTES
}

/** UTF-8 bytes of a code point. A lone surrogate counts as the U+FFFD that stands for it. */
export function utf8Bytes(code: number): number {
  if (code < ONE_BYTE_END) return 1
  if (code < TWO_BYTE_END) return 2
  return code < THREE_BYTE_END ? 3 : 4
}

/** Bytes of a code point inside a string of compact JSON, with the shortest escape. */
export function compactBytes(code: number): number {
  if (code === QUOTE || code === BACKSLASH) return SHORT_ESCAPE_BYTES
  if (code < CONTROL_END) return hasShortEscape(code) ? SHORT_ESCAPE_BYTES : UNICODE_ESCAPE_BYTES
  return isSurrogate(code) ? UNICODE_ESCAPE_BYTES : utf8Bytes(code)
}

/** Backspace to carriage return, except the vertical tab. */
const hasShortEscape = (code: number): boolean => code >= 0x08 && code <= 0x0d && code !== 0x0b

function shortEscape(letter: number): number {
  switch (letter) {
    case 0x62:
      return 0x08
    case 0x66:
      return 0x0c
    case 0x6e:
      return 0x0a
    case 0x72:
      return 0x0d
    case 0x74:
      return 0x09
    default:
      return letter
  }
}

/** Value of four hex digits. Bit 6 tells letters of either case from digits. */
function hexUnit(bytes: Uint8Array, start: number): number {
  let unit = 0
  for (let pos = start; pos < start + 4; pos++) {
    const digit = bytes[pos] as number
    unit = (unit << 4) | ((digit & 0xf) + (digit >> 6) * 9)
  }
  return unit
}
