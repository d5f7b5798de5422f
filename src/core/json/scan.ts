/**
 * The scanner: decides whether bytes are one JSON document (RFC 8259), in one pass and without building anything.
 *
 * It accepts what the grammar accepts, also number tokens beyond a double, lone surrogate escapes and repeated keys, and
 * bounds the depth. It expects valid UTF-8 (`parseJson` checks that first); within strings it reads four bytes at a time.
 */
import { CoatcheckError } from '../errors.ts'
import { JSON_DEPTH_LEVELS } from '../limits.ts'
import { invalidUtf8At, wordsOf } from '../text.ts'
import { JsonSlice } from './slice.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const PLUS = 0x2b
const DOT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const LOWER_U = 0x75
const FIRST_PRINTABLE = 0x20
const WORD_MASK = 3
const WORD_BYTES = 4
const UNICODE_ESCAPE_BYTES = 6
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')
const NULL = Buffer.from('null')

const IN_ARRAY = 1
const IN_OBJECT = 2

/**
 * One JSON document out of a body's bytes, without the white space around it.
 * Throws `invalid_utf8`, `invalid_json` (both name the byte offset) or `json_too_deep`.
 */
export function parseJson(bytes: Buffer, maxDepthLevels: number = JSON_DEPTH_LEVELS): JsonSlice {
  const bad = invalidUtf8At(bytes)
  if (bad >= 0) {
    throw new CoatcheckError(
      'invalid_utf8',
      `The JSON is not valid UTF-8: byte ${bad} begins no code point.`,
      {
        offset_bytes: bad,
      },
    )
  }
  return new Scanner(bytes, maxDepthLevels).document()
}

class Scanner {
  readonly #bytes: Buffer
  readonly #end: number
  readonly #words: Int32Array
  readonly #maxDepthLevels: number
  /** What is open at each level; grows as needed, so that a small document costs little. */
  #open = new Uint8Array(64)
  #depth = 0
  #pos = 0

  constructor(bytes: Buffer, maxDepthLevels: number) {
    this.#bytes = bytes
    this.#end = bytes.length
    this.#words = wordsOf(bytes)
    this.#maxDepthLevels = maxDepthLevels
  }

  document(): JsonSlice {
    this.#space()
    const start = this.#pos
    this.#value()
    const end = this.#pos
    this.#space()
    if (this.#pos !== this.#end) this.#fail('the end of the document')
    return new JsonSlice(this.#bytes, start, end)
  }

  /** A value with all that is inside it; the open containers are on a stack of bytes, not on the call stack. */
  #value(): void {
    do {
      const closed = this.#begin()
      if (closed) this.#finish()
    } while (this.#depth > 0)
  }

  /** The start of a value, or all of a scalar or empty container: true when that value is complete. */
  #begin(): boolean {
    const bytes = this.#bytes
    const byte = this.#pos < this.#end ? (bytes[this.#pos] as number) : -1
    switch (byte) {
      case QUOTE:
        this.#string()
        return true
      case OPEN_OBJECT:
        this.#push(IN_OBJECT)
        if (this.#peek() === CLOSE_OBJECT) return this.#pop()
        this.#key()
        return false
      case OPEN_ARRAY:
        this.#push(IN_ARRAY)
        return this.#peek() === CLOSE_ARRAY ? this.#pop() : false
      case 0x74:
        return this.#literal(TRUE)
      case 0x66:
        return this.#literal(FALSE)
      case 0x6e:
        return this.#literal(NULL)
      default:
        if (byte !== MINUS && (byte < ZERO || byte > NINE)) this.#fail('a value')
        this.#number()
        return true
    }
  }

  /** After a complete value: closes what ends here, up to the comma before the next value. */
  #finish(): void {
    while (this.#depth > 0) {
      const inside = this.#open[this.#depth - 1]
      const byte = this.#peek()
      if (byte === COMMA) {
        this.#pos++
        this.#space()
        if (inside === IN_OBJECT) this.#key()
        return
      }
      if (byte !== (inside === IN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY)) {
        this.#fail(inside === IN_OBJECT ? '"," or "}"' : '"," or "]"')
      }
      this.#pop()
    }
  }

  #push(what: number): void {
    if (this.#depth >= this.#maxDepthLevels) {
      throw new CoatcheckError(
        'json_too_deep',
        `The JSON nests deeper than ${this.#maxDepthLevels} levels at byte ${this.#pos}. Flatten it, or put it as text.`,
        { limit: 'json_depth_levels', value: this.#maxDepthLevels, offset_bytes: this.#pos },
      )
    }
    if (this.#depth === this.#open.length) {
      const larger = new Uint8Array(this.#open.length * 2)
      larger.set(this.#open)
      this.#open = larger
    }
    this.#open[this.#depth++] = what
    this.#pos++
    this.#space()
  }

  #pop(): true {
    this.#pos++
    this.#depth--
    return true
  }

  /** The next byte after white space, or -1 at the end. */
  #peek(): number {
    this.#space()
    return this.#pos < this.#end ? (this.#bytes[this.#pos] as number) : -1
  }

  #space(): void {
    const bytes = this.#bytes
    const end = this.#end
    let pos = this.#pos
    while (pos < end) {
      const byte = bytes[pos] as number
      if (byte > FIRST_PRINTABLE) break
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
      pos++
    }
    this.#pos = pos
  }

  #key(): void {
    if (this.#pos >= this.#end || this.#bytes[this.#pos] !== QUOTE) this.#fail('a member name')
    this.#string()
    if (this.#peek() !== COLON) this.#fail('":"')
    this.#pos++
    this.#space()
  }

  #literal(word: Buffer): true {
    const bytes = this.#bytes
    for (let i = 0; i < word.length; i++) {
      if (this.#pos + i >= this.#end || bytes[this.#pos + i] !== word[i]) this.#fail('a value')
    }
    this.#pos += word.length
    return true
  }

  #number(): void {
    const bytes = this.#bytes
    if (bytes[this.#pos] === MINUS) this.#pos++
    if (this.#pos < this.#end && bytes[this.#pos] === ZERO) this.#pos++
    else this.#digits()
    if (this.#pos < this.#end && bytes[this.#pos] === DOT) {
      this.#pos++
      this.#digits()
    }
    if (this.#pos < this.#end && ((bytes[this.#pos] as number) | 0x20) === 0x65) {
      this.#pos++
      if (this.#pos < this.#end && (bytes[this.#pos] === PLUS || bytes[this.#pos] === MINUS))
        this.#pos++
      this.#digits()
    }
  }

  #digits(): void {
    const bytes = this.#bytes
    const end = this.#end
    const start = this.#pos
    let pos = start
    while (pos < end) {
      const byte = bytes[pos] as number
      if (byte < ZERO || byte > NINE) break
      pos++
    }
    this.#pos = pos
    if (pos === start) this.#fail('a digit')
  }

  /** A string token. Short runs byte by byte; then four at a time until a quote, a backslash or a control. */
  #string(): void {
    const bytes = this.#bytes
    const end = this.#end
    const base = bytes.byteOffset
    let pos = this.#pos + 1
    for (;;) {
      if (((base + pos) & WORD_MASK) === 0) pos = this.#plainWords(pos)
      if (pos >= end) {
        this.#pos = pos
        this.#fail('the closing quote of a string')
      }
      const byte = bytes[pos] as number
      if (byte === QUOTE) {
        this.#pos = pos + 1
        return
      }
      if (byte === BACKSLASH) pos = this.#escape(pos)
      else if (byte < FIRST_PRINTABLE) {
        this.#pos = pos
        this.#fail('an escaped control character')
      } else pos++
    }
  }

  /** From a word's start to the first word that holds a quote, a backslash or a control, or is cut off by the end. */
  #plainWords(start: number): number {
    const words = this.#words
    const base = this.#bytes.byteOffset
    const last = this.#end - WORD_BYTES
    let pos = start
    while (pos <= last) {
      const w = words[(base + pos) >>> 2] as number
      const quote = w ^ 0x22222222
      const backslash = w ^ 0x5c5c5c5c
      const special =
        ((w - 0x20202020) & ~w) |
        ((quote - 0x01010101) & ~quote) |
        ((backslash - 0x01010101) & ~backslash)
      if ((special & 0x80808080) !== 0) break
      pos += WORD_BYTES
    }
    return pos
  }

  #escape(pos: number): number {
    this.#pos = pos
    switch (pos + 1 < this.#end ? this.#bytes[pos + 1] : -1) {
      case QUOTE:
      case BACKSLASH:
      case 0x2f:
      case 0x62:
      case 0x66:
      case 0x6e:
      case 0x72:
      case 0x74:
        return pos + 2
      case LOWER_U:
        for (let i = pos + 2; i < pos + UNICODE_ESCAPE_BYTES; i++) {
          if (i >= this.#end || !isHex(this.#bytes[i] as number))
            this.#fail('four hex digits after \\u')
        }
        return pos + UNICODE_ESCAPE_BYTES
      default:
        return this.#fail('an escape')
    }
  }

  #fail(expected: string): never {
    const at = this.#pos
    const found = at < this.#end ? `found ${describe(this.#bytes, at)}` : 'the input ends there'
    throw new CoatcheckError(
      'invalid_json',
      `The JSON is malformed at byte ${at}: ${expected} expected, ${found}.`,
      {
        offset_bytes: at,
      },
    )
  }
}

const isHex = (byte: number): boolean =>
  (byte >= ZERO && byte <= NINE) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66)

/** One character of the input, made safe to show. */
function describe(bytes: Buffer, at: number): string {
  let end = at + 1
  while (end < bytes.length && ((bytes[end] as number) & 0xc0) === 0x80) end++
  return JSON.stringify(bytes.toString('utf8', at, end))
}
