/**
 * Decodes and encodes string tokens. `decodeRaw` is for keys, ids and values to compare: lone
 * surrogates stay. `decodeText` is for text to show: each lone surrogate becomes U+FFFD, so that
 * the text can be written as UTF-8.
 */
import type { JsonSlice } from './slice.ts'

const BACKSLASH = 0x5c
const NON_ASCII = 0x80
const MAX_BYTES_PER_UNIT = 6
const CACHED_TOKENS = 512
const CACHED_TOKEN_BYTES = 64
/** A loop searches up to this many bytes faster than a call does. */
const FEW_BYTES = 64
const HASH_FACTOR = 31

/**
 * The string of a token, with lone surrogates kept.
 *
 * @example decodeRaw(json('"\\u0041"')) // 'A'
 */
export function decodeRaw(token: JsonSlice): string {
  const { bytes, start, end } = token
  return hasEscapes(token)
    ? (JSON.parse(bytes.toString('utf8', start, end)) as string)
    : bytes.toString('utf8', start + 1, end - 1)
}

function hasEscapes({ bytes, start, end }: JsonSlice): boolean {
  if (end - start > FEW_BYTES) return bytes.subarray(start, end).includes(BACKSLASH)
  for (let pos = start + 1; pos < end - 1; pos++) if (bytes[pos] === BACKSLASH) return true
  return false
}

/**
 * Whether a token stands for `name`. Decodes the token only when it is not plain ASCII and its
 * start agrees.
 */
export function isNamed(token: JsonSlice, name: string): boolean {
  const { bytes, start, end } = token
  const inside = end - start - 2
  // A UTF-16 unit takes one to six bytes.
  if (inside < name.length || inside > name.length * MAX_BYTES_PER_UNIT) return false
  for (let i = 0; i < name.length; i++) {
    const byte = bytes[start + 1 + i] as number
    if (byte === BACKSLASH || byte >= NON_ASCII) return decodeRaw(token) === name
    if (byte !== name.charCodeAt(i)) return false
  }
  return inside === name.length
}

/**
 * The string of a token, each lone surrogate as U+FFFD.
 *
 * @example decodeText(json('"\\ud800"')) // '\ufffd'
 */
export function decodeText(token: JsonSlice): string {
  return decodeRaw(token).toWellFormed()
}

/**
 * A string as a JSON token: short escapes, `\u00xx` in lower case, lone surrogates escaped, U+2028
 * and `/` unescaped.
 *
 * @example encodeString('a\n') // '"a\\n"'
 */
export function encodeString(text: string): string {
  return JSON.stringify(text)
}

/** Decodes tokens of one document and caches them. For member names, of which most are repeated. */
export class TokenReader {
  readonly #bytes: Buffer
  readonly #tokens = new Array<JsonSlice | undefined>(CACHED_TOKENS)
  readonly #texts = new Array<string>(CACHED_TOKENS)

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** As {@link decodeRaw}. */
  decode(token: JsonSlice): string {
    const { start, end } = token
    if (end - start > CACHED_TOKEN_BYTES) return decodeRaw(token)
    const bytes = this.#bytes
    let hash = 0
    for (let pos = start; pos < end; pos++) {
      hash = (Math.imul(hash, HASH_FACTOR) + (bytes[pos] as number)) | 0
    }
    const slot = hash & (CACHED_TOKENS - 1)
    const known = this.#tokens[slot]
    if (known !== undefined && this.#same(known, token)) return this.#texts[slot] as string
    const text = decodeRaw(token)
    this.#tokens[slot] = token
    this.#texts[slot] = text
    return text
  }

  /** Compares bytes. No token is a prefix of another, since a bare quote ends it. */
  #same(a: JsonSlice, b: JsonSlice): boolean {
    const bytes = this.#bytes
    const length = a.end - a.start
    for (let i = 0; i < length; i++) {
      if (bytes[a.start + i] !== bytes[b.start + i]) return false
    }
    return true
  }
}
