/**
 * Reading JSON that `scan.ts` has already validated, without building objects: a value is the range
 * of bytes it stands in, so number tokens, key order, duplicate keys and escapes stay as they came.
 */
import { countTails, wordsOf } from '../text.ts'
import { nextSpecial } from './escape.ts'
import type { Outline } from './outline.ts'
import { decodeRaw } from './strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20
/** How far a string's end is looked for byte by byte, before four at a time pay. */
const NEAR_BYTES = 16

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** What a scan noted, by where in its bytes a value starts. */
type Outlines = ReadonlyMap<number, Outline>

/** One JSON value: `bytes[start, end)`, valid JSON with no white space around it. */
export class JsonSlice {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly #outlines: Outlines | undefined
  #tails: number | undefined

  constructor(bytes: Buffer, start = 0, end = bytes.length, outlines?: Outlines) {
    this.bytes = bytes
    this.start = start
    this.end = end
    this.#outlines = outlines
  }

  /** What a scan noted of it. */
  get outline(): Outline | undefined {
    return this.#outlines?.get(this.start)
  }

  /** How many bytes more than code points it has; counted once. */
  get tails(): number {
    this.#tails ??= countTails(this.bytes, this.start, this.end)
    return this.#tails
  }

  /** The value inside it that starts at `start`. */
  at(start: number): JsonSlice {
    const end = this.#outlines?.get(start)?.bytes
    const stop = end === undefined ? skipValue(this.bytes, start, this.end) : start + end
    return new JsonSlice(this.bytes, start, stop, this.#outlines)
  }

  /** The same value in a buffer that holds nothing else. */
  alone(): JsonSlice {
    const { outline } = this
    const outlines = outline && new Map([[0, outline]])
    return new JsonSlice(this.source, 0, this.end - this.start, outlines)
  }

  get kind(): JsonKind {
    switch (this.bytes[this.start]) {
      case OPEN_OBJECT:
        return 'object'
      case OPEN_ARRAY:
        return 'array'
      case QUOTE:
        return 'string'
      case 0x74:
      case 0x66:
        return 'boolean'
      case 0x6e:
        return 'null'
      default:
        return 'number'
    }
  }

  /** The bytes it stands in: a view, not a copy. */
  get source(): Buffer {
    return this.bytes.subarray(this.start, this.end)
  }

  /** The source as a string. */
  toString(): string {
    return this.bytes.toString('utf8', this.start, this.end)
  }
}

export interface Member {
  /** The key's string token. */
  readonly key: JsonSlice
  readonly value: JsonSlice
}

/** The position of the first byte at or after `pos` that is not white space. */
export function skipSpace(bytes: Uint8Array, from: number, end: number): number {
  let pos = from
  while (pos < end && (bytes[pos] as number) <= SPACE) pos++
  return pos
}

/**
 * The position after the string token that starts at `pos`.
 *
 * @example skipString(bytes('"a\\""'), 0) // 5
 */
export function skipString(bytes: Uint8Array, start: number): number {
  let pos = start + 1
  const stop = pos + NEAR_BYTES
  while (pos < stop) {
    const byte = bytes[pos] as number
    if (byte === QUOTE) return pos + 1
    pos += byte === BACKSLASH ? 2 : 1
  }
  return skipFar(bytes, pos)
}

function skipFar(bytes: Uint8Array, from: number): number {
  const words = wordsOf(bytes)
  let pos = nextSpecial(bytes, words, from, bytes.length)
  while (bytes[pos] === BACKSLASH) pos = nextSpecial(bytes, words, pos + 2, bytes.length)
  return pos + 1
}

/**
 * The position after the value that starts at `pos`; `end` bounds a bare number or literal.
 *
 * @example skipValue(bytes('[1] '), 0, 4) // 3
 */
export function skipValue(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  if (first === QUOTE) return skipString(bytes, start)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipRest(bytes, start + 1)
  let pos = start
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) break
    pos++
  }
  return pos
}

/** The position after the array or object that `from`, between two of its tokens, is inside. */
function skipRest(bytes: Uint8Array, from: number): number {
  let depth = 1
  let pos = from
  for (;;) {
    const byte = bytes[pos] as number
    if (byte === QUOTE) {
      pos = skipString(bytes, pos)
      continue
    }
    pos++
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++
    else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) return pos
  }
}

/**
 * From the end of an item (or the opening bracket's) to the next item, or to the closing bracket.
 */
export function nextItem(bytes: Uint8Array, itemEnd: number, end: number): number {
  const pos = skipSpace(bytes, itemEnd, end)
  return bytes[pos] === COMMA ? skipSpace(bytes, pos + 1, end) : pos
}

/** From the end of a key to its value, past the colon, which white space may surround. */
export function valueAfter(bytes: Uint8Array, keyEnd: number, end: number): number {
  return skipSpace(bytes, skipSpace(bytes, keyEnd, end) + 1, end)
}

/**
 * The elements of an array, in order, one at a time. Each is read to its end to find the next: to
 * read a whole tree this way takes time by its size times its depth.
 */
export function* elementsOf(array: JsonSlice): Generator<JsonSlice> {
  const { bytes, end } = array
  let pos = nextItem(bytes, array.start + 1, end)
  while (bytes[pos] !== CLOSE_ARRAY) {
    const valueEnd = skipValue(bytes, pos, end)
    yield new JsonSlice(bytes, pos, valueEnd)
    pos = nextItem(bytes, valueEnd, end)
  }
}

/**
 * The members of an object as they stand: in document order, duplicates included.
 *
 * @example [...membersOf(json('{"a": 1}'))].map(({ value }) => value.toString()) // ['1']
 */
export function* membersOf(object: JsonSlice): Generator<Member> {
  const { bytes, end } = object
  let pos = nextItem(bytes, object.start + 1, end)
  while (bytes[pos] !== CLOSE_OBJECT) {
    const key = new JsonSlice(bytes, pos, skipString(bytes, pos))
    const valueStart = valueAfter(bytes, key.end, end)
    const value = object.at(valueStart)
    yield { key, value }
    pos = nextItem(bytes, value.end, end)
  }
}

/**
 * The members of an object by name: of a repeated key the last value, in the first one's place.
 * Names are compared as decoded, lone surrogates kept apart.
 */
export function distinctMembersOf(object: JsonSlice): Map<string, Member> {
  const members = new Map<string, Member>()
  for (const member of membersOf(object)) members.set(decodeRaw(member.key), member)
  return members
}

export function countElements(array: JsonSlice): number {
  const { bytes, end } = array
  let count = 0
  let pos = nextItem(bytes, array.start + 1, end)
  while (bytes[pos] !== CLOSE_ARRAY) {
    count++
    pos = nextItem(bytes, skipValue(bytes, pos, end), end)
  }
  return count
}
