/**
 * Finds the ends of JSON tokens in bytes that are not validated yet. A negative result is the
 * complement (`~pos`) of the position of a fault.
 */
import { compactBytes, escapedCode, utf8Bytes } from './escape.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const SLASH = 0x2f
const LOWER_U = 0x75
const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const LOWER_E = 0x65
const LOWER_BIT = 0x20
const FIRST_PRINTABLE = 0x20
const WORD_BYTES = 4
/** Strings are read up to here without aligning to words. Most are shorter. */
const NEAR_BYTES = 32
const SHORT_ESCAPE_BYTES = 2
const UNICODE_ESCAPE_BYTES = 6
const HEX_MAX = 0xf
const PAIR_END = 0x10000
/** 1 for the letters of short escapes. */
const SHORT_ESCAPES = new Uint8Array(256)
for (const letter of Buffer.from('"\\/bfnrt')) SHORT_ESCAPES[letter] = 1
/** Value of a hex digit; 255 for any other byte. */
const HEX = new Uint8Array(256).fill(0xff)
for (const [value, digit] of Buffer.from('0123456789abcdef').entries()) {
  HEX[digit] = value
  if (value > 9) HEX[digit - LOWER_BIT] = value
}
const WORDS = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** Sums over the escapes of all strings of a scan. */
export interface EscapeSums {
  /** Bytes of strings in compact JSON minus their bytes in the source. */
  growth: number
  /** Bytes minus code points of the characters that escapes stand for. */
  tails: number
}

/**
 * The bytes of a scan, with views that read four bytes at once: `data` at any position, `words`
 * faster at aligned ones.
 */
export interface ScannedBytes {
  readonly bytes: Uint8Array
  readonly data: DataView
  /** `wordsOf(bytes)`. */
  readonly words: Int32Array
}

/**
 * Sets the high bit of the lane of the first byte that ends plain text; bits of later lanes are
 * undefined.
 */
function ends(word: number): number {
  const quote = word ^ 0x22222222
  const backslash = word ^ 0x5c5c5c5c
  return (
    (((word - 0x20202020) & ~word) |
      ((quote - 0x01010101) & ~quote) |
      ((backslash - 0x01010101) & ~backslash)) &
    0x80808080
  )
}

/**
 * Position after the string token whose first character is at `from`. Adds its escapes to `sums`.
 */
export function stringEnd(scanned: ScannedBytes, from: number, sums: EscapeSums): number {
  const { bytes } = scanned
  let pos = from
  for (;;) {
    pos = plainEnd(scanned, pos)
    if (pos >= bytes.length) return ~bytes.length
    const byte = bytes[pos] as number
    if (byte === QUOTE) return pos + 1
    if (byte === BACKSLASH) {
      pos = escapeEnd(bytes, pos, sums)
      if (pos < 0) return pos
    } else if (byte < FIRST_PRINTABLE) return ~pos
    else pos++
  }
}

/**
 * Position of the first quote, backslash or control character at or after `from`. Near the end of
 * the bytes it may be earlier.
 */
export function plainEnd({ bytes, data, words }: ScannedBytes, from: number): number {
  const last = bytes.length - WORD_BYTES
  const near = Math.min(last, from + NEAR_BYTES)
  let pos = from
  let found = 0
  for (; pos <= near; pos += WORD_BYTES) {
    found = ends(data.getInt32(pos, true))
    if (found !== 0) return pos + lowestByte(found)
  }
  if (pos > last) return pos
  // Bytes of this word before `pos` were found plain already.
  const base = bytes.byteOffset
  const lastWord = (base + last) >>> 2
  let word = (base + pos) >>> 2
  for (; word <= lastWord; word++) {
    found = ends(words[word] as number)
    if (found !== 0) break
  }
  return (word << 2) - base + (found === 0 ? 0 : lowestByte(found))
}

const lowestByte = (highs: number): number => (31 - Math.clz32(highs & -highs)) >> 3

function escapeEnd(bytes: Uint8Array, pos: number, sums: EscapeSums): number {
  if (pos + 1 >= bytes.length) return ~pos
  const letter = bytes[pos + 1] as number
  if (letter !== LOWER_U) {
    if (letter === SLASH) sums.growth--
    else if (SHORT_ESCAPES[letter] === 0) return ~pos
    return pos + SHORT_ESCAPE_BYTES
  }
  const end = pos + UNICODE_ESCAPE_BYTES
  if (!areHex(bytes, pos + SHORT_ESCAPE_BYTES, end)) return ~pos
  const code = escapedCode(bytes, pos)
  // The second half of a surrogate pair is an escape, which may still be malformed.
  const pair = code >= PAIR_END
  if (pair && !areHex(bytes, end + SHORT_ESCAPE_BYTES, end + UNICODE_ESCAPE_BYTES)) return ~end
  const next = pair ? end + UNICODE_ESCAPE_BYTES : end
  const size = compactBytes(code)
  sums.growth += size - (next - pos)
  // A lone surrogate stays an escape, which has as many characters as bytes.
  if (size !== UNICODE_ESCAPE_BYTES) sums.tails += utf8Bytes(code) - 1
  return next
}

function areHex(bytes: Uint8Array, start: number, end: number): boolean {
  if (end > bytes.length) return false
  const a = HEX[bytes[start] as number] as number
  const b = HEX[bytes[start + 1] as number] as number
  const c = HEX[bytes[start + 2] as number] as number
  const d = HEX[bytes[start + 3] as number] as number
  return (a | b | c | d) <= HEX_MAX
}

/** Position after the number token at `start`. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  const end = bytes.length
  let pos = start
  if (bytes[pos] === MINUS) pos++
  if (pos < end && bytes[pos] === ZERO) pos++
  else pos = digitsEnd(bytes, pos)
  if (pos >= 0 && pos < end && bytes[pos] === DOT) pos = digitsEnd(bytes, pos + 1)
  if (pos >= 0 && pos < end && ((bytes[pos] as number) | LOWER_BIT) === LOWER_E) {
    pos++
    if (pos < end && (bytes[pos] === PLUS || bytes[pos] === MINUS)) pos++
    pos = digitsEnd(bytes, pos)
  }
  return pos
}

/** Position after the digits at `start`. At least one digit is required. */
export function digitsEnd(bytes: Uint8Array, start: number): number {
  const end = bytes.length
  let pos = start
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte < ZERO || byte > NINE) break
    pos++
  }
  return pos === start ? ~pos : pos
}

/** Position after `true`, `false` or `null` at `start`. */
export function literalEnd(bytes: Uint8Array, start: number): number {
  const word = WORDS.find((known) => known[0] === bytes[start]) as Buffer
  for (let i = 1; i < word.length; i++) {
    if (start + i >= bytes.length || bytes[start + i] !== word[i]) return ~start
  }
  return start + word.length
}
