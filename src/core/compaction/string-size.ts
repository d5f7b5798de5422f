/**
 * How large a string token is when it is spelled as `JSON.stringify` spells it, and how large the text is that it stands
 * for, without decoding it: estimates are made on every request, over all of a transcript.
 */
import { nextSpecial } from '../json/escape.ts'
import { countTails, wordsOf } from '../text.ts'

const BACKSLASH = 0x5c
const QUOTE = 0x22
const SLASH = 0x2f
const LOWER_U = 0x75
const SPACE = 0x20
/** Those of the controls that have an escape of two bytes. */
const SHORT_CONTROLS: ReadonlySet<number> = new Set([0x08, 0x09, 0x0a, 0x0c, 0x0d])
const SHORT_ESCAPE = 2
const UNICODE_ESCAPE = 6
const FIRST_TWO_BYTES = 0x80
const FIRST_THREE_BYTES = 0x800
const FIRST_HIGH = 0xd800
const FIRST_LOW = 0xdc00
const AFTER_LOW = 0xe000
const TAIL_MASK = 0xc0
const TAIL = 0x80
/** How far a loop looks before four bytes at a time pay. */
const NEAR_BYTES = 32
const PAIR_BYTES = 4
const THREE_BYTES = 3

export interface StringSize {
  /** In its shortest spelling, without the quotes. */
  bytes: number
  chars: number
  /** Of the text, a lone surrogate as U+FFFD. */
  textBytes: number
}

interface Escaped extends Readonly<StringSize> {
  /** How many bytes the escape takes as it stands. */
  readonly length: number
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
      const escaped = escapeAt(bytes, pos)
      size.bytes += escaped.bytes
      size.chars += escaped.chars
      size.textBytes += escaped.textBytes
      pos += escaped.length
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

function escapeAt(bytes: Uint8Array, pos: number): Escaped {
  const what = bytes[pos + 1]
  if (what !== LOWER_U) return what === SLASH ? PLAIN_SLASH : SHORT
  const unit = unitAt(bytes, pos)
  if (unit >= FIRST_HIGH && unit < FIRST_LOW && isLowAt(bytes, pos + UNICODE_ESCAPE)) return PAIR
  if (unit >= FIRST_HIGH && unit < AFTER_LOW) return LONE
  if (unit < FIRST_TWO_BYTES) return ascii(unit)
  const length = unit < FIRST_THREE_BYTES ? 2 : THREE_BYTES
  return { length: UNICODE_ESCAPE, bytes: length, chars: 1, textBytes: length }
}

const PLAIN_SLASH: Escaped = { length: SHORT_ESCAPE, bytes: 1, chars: 1, textBytes: 1 }
const SHORT: Escaped = {
  length: SHORT_ESCAPE,
  bytes: SHORT_ESCAPE,
  chars: SHORT_ESCAPE,
  textBytes: 1,
}
const PAIR: Escaped = {
  length: UNICODE_ESCAPE * 2,
  bytes: PAIR_BYTES,
  chars: 1,
  textBytes: PAIR_BYTES,
}
const LONE: Escaped = {
  length: UNICODE_ESCAPE,
  bytes: UNICODE_ESCAPE,
  chars: UNICODE_ESCAPE,
  textBytes: THREE_BYTES,
}

function ascii(unit: number): Escaped {
  const short = unit === QUOTE || unit === BACKSLASH || SHORT_CONTROLS.has(unit)
  const size = short ? SHORT_ESCAPE : unit < SPACE ? UNICODE_ESCAPE : 1
  return { length: UNICODE_ESCAPE, bytes: size, chars: size, textBytes: 1 }
}

function isLowAt(bytes: Uint8Array, pos: number): boolean {
  if (bytes[pos] !== BACKSLASH || bytes[pos + 1] !== LOWER_U) return false
  const unit = unitAt(bytes, pos)
  return unit >= FIRST_LOW && unit < AFTER_LOW
}

/** The UTF-16 unit that the escape at `pos` spells. */
function unitAt(bytes: Uint8Array, pos: number): number {
  let unit = 0
  for (let i = pos + 2; i < pos + UNICODE_ESCAPE; i++) {
    const digit = bytes[i] as number
    // Of a letter of either case the low bits count from 1, and bit 6 is set.
    unit = (unit << 4) + (digit & 0xf) + (digit >> 6) * 9
  }
  return unit
}
