/**
 * String tokens to text and back. `decodeRaw` is for identity (keys, ids, values to compare): lone surrogates stay.
 * `decodeText` is for showing: each lone surrogate becomes U+FFFD, so that it can always be written as UTF-8.
 */
import type { JsonSlice } from './slice.ts'

const BACKSLASH = 0x5c
const NON_ASCII = 0x80
const MAX_BYTES_PER_UNIT = 6

/** The string that a token stands for, lone surrogates kept. */
export function decodeRaw(token: JsonSlice): string {
  const { bytes, start, end } = token
  for (let pos = start + 1; pos < end - 1; pos++) {
    if (bytes[pos] === BACKSLASH) return JSON.parse(bytes.toString('utf8', start, end)) as string
  }
  return bytes.toString('utf8', start + 1, end - 1)
}

/** Whether a token stands for `name`. Decodes only tokens that could. */
export function isNamed(token: JsonSlice, name: string): boolean {
  const { bytes, start, end } = token
  const inside = end - start - 2
  // A UTF-16 unit takes one to six bytes.
  if (inside < name.length || inside > name.length * MAX_BYTES_PER_UNIT) return false
  const first = bytes[start + 1]
  if (inside > 0 && first !== BACKSLASH && (first as number) < NON_ASCII) {
    if (first !== name.charCodeAt(0)) return false
  }
  return decodeRaw(token) === name
}

/** The string that a token stands for, each lone surrogate as U+FFFD. */
export function decodeText(token: JsonSlice): string {
  return decodeRaw(token).toWellFormed()
}

/** A string as a JSON token: short escapes, `\u00xx` in lower case, lone surrogates escaped; U+2028 and `/` plain. */
export function encodeString(text: string): string {
  return JSON.stringify(text)
}
