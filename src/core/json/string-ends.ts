/**
 * The start and the end of a string token's text, without decoding what lies between. Both return more than was asked for,
 * since how much an escape stands for is known only after decoding: a caller clips them. The far end of an excerpt may be
 * torn (half an escape, half a code point); the asked part, and the code point next to it, never is.
 */
import { UNICODE_ESCAPE_BYTES } from './escape.ts'
import { JsonSlice } from './slice.ts'

const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
/** Room for the torn unit and for the code point next to the asked part. */
const MARGIN_BYTES = 4

/** No source byte stands for less than a sixth of a byte of text. */
const sourceBytesFor = (textBytes: number): number =>
  (textBytes + MARGIN_BYTES) * UNICODE_ESCAPE_BYTES

/** The text's first bytes as UTF-8: all of it, or more than `atLeastBytes`. Lone surrogates as U+FFFD. */
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

/** The text's last bytes as UTF-8: all of it, or more than `atLeastBytes`. Lone surrogates as U+FFFD. */
export function tailBytes(token: JsonSlice, atLeastBytes: number): Buffer {
  const { bytes, start, end } = token
  const inside = new JsonSlice(bytes, start + 1, end - 1)
  let pos = inside.end - sourceBytesFor(atLeastBytes)
  if (pos <= inside.start) return decodeInside(inside)
  // After an odd run of backslashes stands an escape's second byte. Digits of a cut `\uXXXX` read as text: the torn end.
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
