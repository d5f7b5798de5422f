/**
 * A text as the string token that stands for it, a piece at a time: a text can be as large as a ledger takes, and what its
 * token takes has to be known before any of it is sent. Pieces are valid UTF-8 and split no code point.
 */
import { compactBytes } from './escape.ts'

const ASCII_BYTES = 0x80

/** What each byte takes more than itself. */
const GROWTH = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < ASCII_BYTES ? compactBytes(byte) - 1 : 0,
)

/** How many bytes {@link encodeInside} makes of `text`. */
export function insideBytes(text: Uint8Array): number {
  let bytes = text.length
  for (let pos = 0; pos < text.length; pos++) bytes += GROWTH[text[pos] as number] as number
  return bytes
}

/** `text` as it stands inside its token, without the quotes. */
export function encodeInside(text: Buffer): Buffer {
  // Only ASCII is ever escaped; the rest passes as it is, byte by byte, without being decoded.
  return Buffer.from(JSON.stringify(text.toString('latin1')), 'latin1').subarray(1, -1)
}
