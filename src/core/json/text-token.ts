/**
 * Encodes a text as a JSON string token, piece by piece. A text can be larger than memory, and the
 * length of its token must be known before the first byte is sent. Pieces are valid UTF-8 and split
 * no code point.
 */
import { compactBytes } from './escape.ts'

const ASCII_BYTES = 0x80

/** Extra bytes that each byte takes inside a token. */
const GROWTH = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < ASCII_BYTES ? compactBytes(byte) - 1 : 0,
)

/**
 * Bytes of {@link encodeInside} for `text`.
 *
 * @example insideBytes(bytes('a"')) // 3
 */
export function insideBytes(text: Uint8Array): number {
  let bytes = text.length
  for (let pos = 0; pos < text.length; pos++) bytes += GROWTH[text[pos] as number] as number
  return bytes
}

/**
 * `text` as it stands inside its token, without the quotes.
 *
 * @example encodeInside(Buffer.from('a"b')).toString() // 'a\\"b'
 */
export function encodeInside(text: Buffer): Buffer {
  // Only ASCII is escaped. Other bytes pass through unchanged as Latin-1, without being decoded.
  return Buffer.from(JSON.stringify(text.toString('latin1')), 'latin1').subarray(1, -1)
}
