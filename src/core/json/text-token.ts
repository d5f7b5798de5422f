/**
 * A text as the string token that stands for it, a piece at a time: a text can be as large as a ledger takes, and what its
 * token takes has to be known before any of it is sent. Pieces are valid UTF-8 and split no code point.
 */
import { compactBytes } from './escape.ts'

const SPACE = 0x20
const QUOTE = 0x22
const BACKSLASH = 0x5c

/** How many bytes `text` takes inside its token, which is {@link encodeInside} without making it. */
export function insideBytes(text: Uint8Array): number {
  let bytes = text.length
  for (let pos = 0; pos < text.length; pos++) {
    const byte = text[pos] as number
    if (byte < SPACE || byte === QUOTE || byte === BACKSLASH) bytes += compactBytes(byte) - 1
  }
  return bytes
}

/** `text` as it stands inside its token. */
export function encodeInside(text: Buffer): Buffer {
  return Buffer.from(JSON.stringify(text.toString('utf8')).slice(1, -1))
}
