/**
 * Canonical text: one spelling for equal documents, so that content hashes and prompt caches agree.
 * Members are sorted by the code points of their names. White space is dropped, strings get the
 * shortest escapes, and number tokens stay as written. The last value of a repeated key counts. A
 * lone surrogate stays an escape, so the result is well-formed text.
 */
import { charsOf, wordsOf } from '../text.ts'
import { compactBytes, escapeBytes, escapedCode, nextSpecial, utf8Bytes } from './escape.ts'
import { outlineOf } from './scan.ts'
import type { JsonSlice } from './slice.ts'
import { MemberOrder } from './sort-members.ts'
import { measureStringPart } from './string-view.ts'
import { decodeText } from './strings.ts'
import { plainEnd, type ScannedBytes } from './tokens.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const SLASH = 0x2f
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20
const SHORT_ESCAPE_BYTES = 2
const MAX_BYTES_PER_CHAR = 4
/** Source bytes per member, for the first guess of how many members there are. */
const LIKELY_MEMBER_BYTES = 16
/**
 * A loop copies up to this many bytes faster than a call does; `npm run bench -- --only put-1kb`
 * shows it.
 */
const FEW_BYTES = 48

/**
 * Canonical JSON of a value.
 *
 * @example canonicalJson(json('{"b": 1.0, "a": "\\u0041"}')) // '{"a":"A","b":1.0}'
 */
export function canonicalJson(value: JsonSlice): string {
  return new Writer(value).write().toString()
}

/**
 * The text a model reads: a string bare (lone surrogates as U+FFFD), anything else as canonical
 * JSON.
 */
export function contentString(value: JsonSlice): string {
  return value.kind === 'string' ? decodeText(value) : canonicalJson(value)
}

/**
 * {@link contentString}, or undefined when it has more than `maxChars` code points. Nothing is
 * written for a longer one.
 *
 * @example contentStringWithin(json('"abc"'), 2) // undefined
 */
export function contentStringWithin(value: JsonSlice, maxChars: number): string | undefined {
  return leastChars(value, maxChars) > maxChars
    ? undefined
    : fitting(contentString(value), maxChars)
}

/**
 * Lower bound of the content's code points: exact unless it is over the limit already, or names
 * repeat.
 */
function leastChars(value: JsonSlice, maxChars: number): number {
  const { bytes, start, end } = value
  if (value.kind === 'string') return measureStringPart(bytes, start + 1, end - 1).chars
  const { compactBytes: size, escapedTails, hasRepeats } = outlineOf(value)
  const least = size / MAX_BYTES_PER_CHAR
  if (hasRepeats || least > maxChars) return least
  return size - escapedTails - value.tails
}

const fitting = (text: string, maxChars: number): string | undefined =>
  charsOf(text) <= maxChars ? text : undefined

/**
 * Writes a value in one pass over its bytes. Members are written in source order and sorted at the
 * end. While the source is already spelled canonically, positions in source and result are equal
 * and nothing is copied.
 */
class Writer {
  readonly #from: Buffer
  readonly #scanned: ScannedBytes
  readonly #order: MemberOrder
  #to: Buffer
  /** Bytes written so far. */
  #written = 0

  constructor(value: JsonSlice) {
    const from = value.source
    const data = new DataView(from.buffer, from.byteOffset, from.length)
    this.#from = from
    this.#scanned = { bytes: from, data, words: wordsOf(from) }
    this.#to = from
    this.#order = new MemberOrder(from, Math.ceil(from.length / LIKELY_MEMBER_BYTES))
  }

  write(): Buffer {
    const passed = this.#pass()
    const size = passed < this.#from.length ? this.#copyFrom(passed) : passed
    return this.#order.ordered(size)
  }

  /** Passes the prefix that is already canonical. Returns the position after it. */
  #pass(): number {
    const from = this.#from
    const order = this.#order
    let pos = 0
    while (pos < from.length) {
      const byte = from[pos] as number
      if (byte > COMMA && byte < OPEN_ARRAY) {
        pos++
        continue
      }
      if (byte <= SPACE) break
      if (byte === QUOTE) {
        const end = this.#passString(pos)
        if (end < 0) break
        pos = end
        continue
      }
      if (byte === CLOSE_OBJECT) order.closeObject(pos)
      pos++
      this.#note(byte, pos)
    }
    return pos
  }

  /**
   * Returns the position after the string token at `start`, or -1 when its spelling is not
   * canonical.
   */
  #passString(start: number): number {
    const from = this.#from
    let pos = start + 1
    for (;;) {
      pos = plainEnd(this.#scanned, pos)
      const byte = from[pos]
      if (byte === QUOTE) return pos + 1
      if (byte === BACKSLASH) {
        const letter = from[pos + 1]
        if (letter === LOWER_U || letter === SLASH) return -1
        pos += SHORT_ESCAPE_BYTES
      } else pos++
    }
  }

  /**
   * Writes the value, whose first `passed` bytes are canonical. Returns the bytes of the result.
   */
  #copyFrom(passed: number): number {
    const from = this.#from
    const to = Buffer.allocUnsafe(from.length)
    const order = this.#order
    from.copy(to, 0, 0, passed)
    this.#to = to
    order.moveTo(to)
    let at = passed
    let pos = passed
    while (pos < from.length) {
      const byte = from[pos] as number
      if (byte > COMMA && byte < OPEN_ARRAY) {
        to[at++] = byte
        pos++
        continue
      }
      if (byte === QUOTE) {
        this.#written = at
        pos = this.#string(pos)
        at = this.#written
        continue
      }
      pos++
      if (byte <= SPACE) continue
      if (byte === CLOSE_OBJECT) order.closeObject(at)
      to[at++] = byte
      this.#note(byte, at)
    }
    return at
  }

  /**
   * Notes a structural `byte` outside of strings for the order of members. `pos` is the position
   * after it.
   */
  #note(byte: number, pos: number): void {
    const order = this.#order
    if (byte === COMMA) order.next(pos)
    else if (byte === OPEN_OBJECT) order.openObject(pos)
    else if (byte === OPEN_ARRAY) order.openArray()
    else if (byte === CLOSE_ARRAY) order.closeArray()
  }

  /** Writes the string token at `start`. Returns the position after it. */
  #string(start: number): number {
    const from = this.#from
    const to = this.#to
    let at = this.#written
    let pos = start + 1
    to[at++] = QUOTE
    for (;;) {
      const stop = pos + FEW_BYTES
      let byte = from[pos] as number
      while (byte !== QUOTE && byte !== BACKSLASH && pos < stop) {
        to[at++] = byte
        byte = from[++pos] as number
      }
      if (byte === QUOTE) break
      if (byte !== BACKSLASH) {
        const special = nextSpecial(from, this.#scanned.words, pos, from.length)
        at += from.copy(to, at, pos, special)
        pos = special
        continue
      }
      const letter = from[pos + 1] as number
      if (letter === LOWER_U || letter === SLASH) {
        this.#written = at
        pos = this.#escape(pos)
        at = this.#written
      } else {
        to[at++] = BACKSLASH
        to[at++] = letter
        pos += SHORT_ESCAPE_BYTES
      }
    }
    to[at++] = QUOTE
    this.#written = at
    return pos + 1
  }

  /** Writes the escape at `pos` in its shortest spelling. Returns the position after it. */
  #escape(pos: number): number {
    const code = escapedCode(this.#from, pos)
    const size = compactBytes(code)
    const isPlain = size === utf8Bytes(code)
    const text = String.fromCodePoint(code)
    this.#to.write(isPlain ? text : JSON.stringify(text).slice(1, -1), this.#written)
    this.#written += size
    return pos + escapeBytes(this.#from, pos, code)
  }
}
