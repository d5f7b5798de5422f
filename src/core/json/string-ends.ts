/**
 * Decodes the start or the end of a string token's text. Both functions return more than was asked
 * for, since the length of an escaped character is known only after decoding; callers clip the
 * result. The far end of the result may be a torn escape or code point. The asked part, and the
 * code point next to it, are whole.
 */
import { UNICODE_ESCAPE_BYTES } from './escape.ts'
import { JsonSlice } from './slice.ts'

const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
/** Bytes for the torn unit, and for the code point next to the asked part. */
const MARGIN_BYTES = 4

/**
 * Source bytes that are enough for `textBytes` of text: an escape has at most six bytes for one
 * byte of text.
 */
const sourceBytesFor = (textBytes: number): number =>
  (textBytes + MARGIN_BYTES) * UNICODE_ESCAPE_BYTES

/**
 * The text's first bytes as UTF-8: all of it, or more than `atLeastBytes`. Lone surrogates as
 * U+FFFD.
 */
export function headBytes(token: JsonSlice, atLeastBytes: number): Buffer {
  const { bytes, start, end } = token
  const inside = new JsonSlice(bytes, start + 1, end - 1)
  const target = inside.start + sourceBytesFor(atLeastBytes)
  if (target >= inside.end) return decodeInside(inside)
  let pos = inside.start
  while (pos < target) {
    if (bytes[pos] !== BACKSLASH) pos++
    else pos += bytes[pos + 1] === LOWER_U ? UNICODE_ESCAPE_BYTES : SHORT_ESCAPE_BYTES
  }
  return decodeInside(new JsonSlice(bytes, inside.start, pos))
}

/**
 * The text's last bytes as UTF-8: all of it, or more than `atLeastBytes`. Lone surrogates as
 * U+FFFD.
 */
export function tailBytes(token: JsonSlice, atLeastBytes: number): Buffer {
  const { bytes, start, end } = token
  const inside = new JsonSlice(bytes, start + 1, end - 1)
  let pos = inside.end - sourceBytesFor(atLeastBytes)
  if (pos <= inside.start) return decodeInside(inside)
  // After an odd run of backslashes comes an escape's second byte. The digits of a cut `\uXXXX` are
  // the torn end.
  let run = pos
  while (bytes[run - 1] === BACKSLASH) run--
  if ((pos - run) % SHORT_ESCAPE_BYTES === 1) pos--
  return decodeInside(new JsonSlice(bytes, pos, inside.end))
}

function decodeInside(inside: JsonSlice): Buffer {
  const source = inside.source
  if (!source.includes(BACKSLASH)) return source
  return Buffer.from((JSON.parse(`"${inside.toString()}"`) as string).toWellFormed())
}
