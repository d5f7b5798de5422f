/**
 * The scanner: decides whether bytes are one JSON document (RFC 8259), in one pass and without
 * building objects. On the way it notes the outline of values (`outline.ts`), which later steps
 * use.
 *
 * It accepts everything that the grammar accepts: number tokens beyond a double, lone surrogate
 * escapes and repeated keys, too. It bounds the depth. It expects valid UTF-8, which `parseJson`
 * checks first. Open containers are on a stack of integers, not on the call stack.
 */
import { CoatcheckError } from '../errors.ts'
import { JSON_DEPTH_LEVELS } from '../limits.ts'
import { invalidUtf8At, wordsOf } from '../text.ts'
import { HASH_FACTOR, hashEscaped, OpenKeys } from './duplicate-keys.ts'
import { CHUNK_SIZES, type ChunkSizes, type Outline } from './outline.ts'
import { Observer } from './scan-sums.ts'
import { JsonSlice } from './slice.ts'
import { digitsEnd, literalEnd, numberEnd, type ScannedBytes, stringEnd } from './tokens.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const MINUS = 0x2d
const DOT = 0x2e
const LOWER_E = 0x65
const LOWER_BIT = 0x20
const ZERO = 0x30
const NINE = 0x39
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const LOWER_U = 0x75
const LOWER_T = 0x74
const LOWER_F = 0x66
const LOWER_N = 0x6e
const SPACE = 0x20
const LF = 0x0a
const CR = 0x0d
const TAB = 0x09
/** Runs of spaces, as numbers that one read gives. */
const SPACES = new DataView(new Uint8Array(8).fill(0x20).buffer)
const EIGHT_SPACES = SPACES.getFloat64(0)
const FOUR_SPACES = SPACES.getInt32(0)
const TWO_SPACES = SPACES.getInt16(0)
/** A byte times this number is a word of four such bytes. */
const BYTE_LANES = 0x01010101
const WORD_BYTES = 4
const INDENT_BYTES = 2
/** Stands on the stack for an array. An object has the index of its first key there. */
const IN_ARRAY = -1
const FIRST_LEVELS = 16

/** Outlines are noted of the document itself, or of each of its entries. */
export type Watch = 'document' | 'entries'

/**
 * Reads one JSON document, without the white space around it. `maxDepthLevels` bounds its nesting.
 * Throws `invalid_utf8`, `invalid_json` (both name the byte offset) or `json_too_deep`.
 *
 * @example parseJson(bytes(' 1.0 ')).toString() // '1.0'
 */
export function parseJson(
  bytes: Buffer,
  maxDepthLevels: number = JSON_DEPTH_LEVELS,
  watch: Watch = 'document',
): JsonSlice {
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
  return new Scanner(bytes, { maxDepthLevels, watch, sizes: CHUNK_SIZES }).document()
}

/**
 * The outline of a validated value: the one that its scan noted, or that of a new scan.
 *
 * @example outlineOf(json('[1, 2]')).entries // 2
 */
export function outlineOf(value: JsonSlice, sizes: ChunkSizes = CHUNK_SIZES): Outline {
  const noted = sizes === CHUNK_SIZES ? value.outline : undefined
  if (noted !== undefined) return noted
  const limits = { maxDepthLevels: Number.POSITIVE_INFINITY, watch: 'document' as const, sizes }
  return new Scanner(value.source, limits).document().outline as Outline
}

interface ScanOptions {
  readonly maxDepthLevels: number
  readonly watch: Watch
  readonly sizes: ChunkSizes
}

class Scanner {
  readonly #bytes: Buffer
  readonly #data: DataView
  readonly #scanned: ScannedBytes
  readonly #maxDepthLevels: number
  readonly #watched: number
  readonly #observer: Observer
  readonly #keys: OpenKeys
  /** For each open container, the index of an object's first key, or {@link IN_ARRAY}. */
  #stack: Int32Array = new Int32Array(FIRST_LEVELS)

  constructor(bytes: Buffer, { maxDepthLevels, watch, sizes }: ScanOptions) {
    this.#bytes = bytes
    this.#data = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#scanned = { bytes, data: this.#data, words: wordsOf(bytes) }
    this.#maxDepthLevels = maxDepthLevels
    this.#watched = watch === 'document' ? 0 : 1
    this.#observer = new Observer(bytes, sizes)
    this.#keys = new OpenKeys(bytes)
  }

  document(): JsonSlice {
    const start = this.#space(0)
    const end = this.#value(start)
    const rest = this.#space(end)
    if (rest !== this.#bytes.length) this.#fail(rest, 'the end of the document')
    return new JsonSlice(this.#bytes, start, end, this.#observer.outlines)
  }

  /** Returns the position after the value at `start`. */
  // biome-ignore lint/complexity/noExcessiveLinesPerFunction: the loop over all bytes; calls in it would cost as much again
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the same
  #value(start: number): number {
    const bytes = this.#bytes
    const scanned = this.#scanned
    const end = bytes.length
    const watched = this.#watched
    const observer = this.#observer
    const keys = this.#keys
    let stack: Int32Array = this.#stack
    let depth = 0
    let inObject = false
    let pos = start
    for (;;) {
      const entryStart = pos
      if (pos >= observer.nextPos || pos + observer.viewExtra >= observer.nextView) {
        observer.cut(pos)
      }
      if (observer.afterOpen) {
        observer.afterOpen = false
        observer.viewExtra += observer.lineBytes
        observer.viewLines++
      }
      if (inObject) pos = this.#key(pos)
      if (depth <= watched + 1) {
        if (depth === watched) observer.begin(pos)
        // This also runs for a document whose entries are watched; nothing of it is kept then.
        else observer.beginEntry(entryStart, pos)
      }
      const byte = pos < end ? (bytes[pos] as number) : -1
      if (byte === QUOTE) {
        const from = pos
        pos = stringEnd(scanned, pos + 1, observer)
        if (pos < 0) this.#failInString(~pos)
        if (pos >= observer.nextPos) observer.cutInside(from, pos)
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        if (depth >= this.#maxDepthLevels) this.#failDepth(pos)
        if (depth === stack.length) stack = this.#deeper()
        const isObject = byte === OPEN_OBJECT
        pos++
        if (pos < end && (bytes[pos] as number) <= SPACE) {
          observer.afterOpen = true
          observer.lineBytes += INDENT_BYTES
          pos = this.#space(pos)
          observer.lineBytes -= INDENT_BYTES
          observer.afterOpen = false
        }
        if (pos < end && bytes[pos] === (isObject ? CLOSE_OBJECT : CLOSE_ARRAY)) pos++
        else {
          stack[depth++] = isObject ? keys.count : IN_ARRAY
          inObject = isObject
          observer.afterOpen = true
          observer.lineBytes += INDENT_BYTES
          continue
        }
      } else {
        const from = pos
        if (byte > ZERO && byte <= NINE) {
          // Most numbers are integers. Their loop is in a function of its own: V8 would deoptimize
          // this one after it.
          pos = digitsEnd(bytes, pos)
          const after = pos < end ? (bytes[pos] as number) : -1
          if (after === DOT || (after | LOWER_BIT) === LOWER_E) pos = this.#number(from)
        } else if (byte === MINUS || byte === ZERO) pos = this.#number(pos)
        else {
          if (byte !== LOWER_T && byte !== LOWER_F && byte !== LOWER_N) this.#fail(pos, 'a value')
          pos = literalEnd(bytes, pos)
          if (pos < 0) this.#fail(from, 'a value')
        }
        if (pos >= observer.nextPos) observer.cutInside(from, pos)
      }
      // After a complete value: closes containers that end here, up to the comma before the next
      // value.
      let size = 0
      let repeats = 0
      for (;;) {
        if (depth <= watched + 1) {
          if (depth > watched) observer.finishEntry(pos, size)
          else if (depth === watched) observer.finish(pos, repeats)
        }
        if (depth === 0) return pos
        if (pos < end && (bytes[pos] as number) <= SPACE) pos = this.#space(pos)
        const next = pos < end ? bytes[pos] : -1
        if (next === COMMA) {
          pos++
          observer.viewExtra += observer.lineBytes
          observer.viewLines++
          if (depth === watched + 2) observer.innerCommas++
          if (pos < end && (bytes[pos] as number) <= SPACE) pos = this.#space(pos)
          break
        }
        if (next !== (inObject ? CLOSE_OBJECT : CLOSE_ARRAY)) {
          this.#fail(pos, inObject ? '"," or "}"' : '"," or "]"')
        }
        if (pos >= observer.nextPos || pos + observer.viewExtra >= observer.nextView) {
          observer.cut(pos)
        }
        const first = stack[--depth] as number
        repeats = 0
        if (inObject) {
          repeats = keys.close(first)
          observer.repeats += repeats
          observer.compactExtra -= keys.repeatedBytes
        }
        size = observer.innerCommas + 1 - repeats
        inObject = depth > 0 && (stack[depth - 1] as number) !== IN_ARRAY
        observer.lineBytes -= INDENT_BYTES
        observer.viewExtra += observer.lineBytes
        observer.viewLines++
        pos++
      }
    }
  }

  /** Reads a member's name and colon. Returns the position of its value. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a loop over bytes; calls in it would cost as much again
  #key(start: number): number {
    const bytes = this.#bytes
    const end = bytes.length
    const observer = this.#observer
    if (start >= end || bytes[start] !== QUOTE) this.#fail(start, 'a member name')
    const compactBefore = start + observer.compactExtra + observer.growth
    let hash = 0
    let pos = start + 1
    while (pos < end) {
      const byte = bytes[pos] as number
      if (byte === QUOTE || byte === BACKSLASH || byte < SPACE) break
      hash = (Math.imul(hash, HASH_FACTOR) + byte) | 0
      pos++
    }
    if (pos < end && bytes[pos] === QUOTE) pos++
    else {
      pos = stringEnd(this.#scanned, pos, observer)
      if (pos < 0) this.#failInString(~pos)
      hash = hashEscaped(bytes, start)
    }
    if (pos >= observer.nextPos) observer.cutInside(start, pos)
    this.#keys.add(hash, start, compactBefore)
    if (pos < end && (bytes[pos] as number) <= SPACE) pos = this.#space(pos)
    if (pos >= end || bytes[pos] !== COLON) this.#fail(pos, '":"')
    observer.viewExtra++
    pos++
    if (pos >= end || (bytes[pos] as number) > SPACE) return pos
    const isOneSpace = bytes[pos] === SPACE && (bytes[pos + 1] as number) > SPACE
    if (!isOneSpace || pos >= observer.nextPos) return this.#space(pos)
    observer.viewExtra--
    observer.compactExtra--
    return pos + 1
  }

  #number(start: number): number {
    const pos = numberEnd(this.#bytes, start)
    return pos < 0 ? this.#fail(~pos, 'a digit') : pos
  }

  #deeper(): Int32Array {
    const larger = new Int32Array(this.#stack.length * 2)
    larger.set(this.#stack)
    this.#stack = larger
    return larger
  }

  /** Position of the next byte that is no white space, or the end. */
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a loop over bytes; calls in it would cost as much again
  #space(from: number): number {
    const bytes = this.#bytes
    const data = this.#data
    const end = bytes.length
    let pos = from
    while (pos < end) {
      const byte = bytes[pos] as number
      if (byte !== SPACE && byte !== LF && byte !== CR && byte !== TAB) break
      pos++
      while (pos + 8 <= end && data.getFloat64(pos) === EIGHT_SPACES) pos += 8
      if (pos + 4 <= end && data.getInt32(pos) === FOUR_SPACES) pos += 4
      if (pos + 2 <= end && data.getInt16(pos) === TWO_SPACES) pos += 2
      if (byte === SPACE) continue
      const four = Math.imul(byte, BYTE_LANES)
      while (pos + WORD_BYTES <= end && data.getInt32(pos) === four) pos += WORD_BYTES
    }
    this.#observer.blank(from, pos)
    return pos
  }

  #failInString(pos: number): never {
    if (pos >= this.#bytes.length) this.#fail(pos, 'the closing quote of a string')
    if (this.#bytes[pos] !== BACKSLASH) this.#fail(pos, 'an escaped control character')
    const isUnicode = this.#bytes[pos + 1] === LOWER_U
    this.#fail(pos, isUnicode ? 'four hex digits after \\u' : 'an escape')
  }

  #failDepth(pos: number): never {
    throw new CoatcheckError(
      'json_too_deep',
      `The JSON nests deeper than ${this.#maxDepthLevels} levels at byte ${pos}. Flatten it, or put it as text.`,
      { limit: 'json_depth_levels', value: this.#maxDepthLevels, offset_bytes: pos },
    )
  }

  #fail(at: number, expected: string): never {
    const found =
      at < this.#bytes.length ? `found ${describe(this.#bytes, at)}` : 'the input ends there'
    throw new CoatcheckError(
      'invalid_json',
      `The JSON is malformed at byte ${at}: ${expected} expected, ${found}.`,
      {
        offset_bytes: at,
      },
    )
  }
}

/** One character of the input, escaped for a message. */
function describe(bytes: Buffer, at: number): string {
  let end = at + 1
  while (((bytes[end] as number) & 0xc0) === 0x80) end++
  return JSON.stringify(bytes.toString('utf8', at, end))
}
