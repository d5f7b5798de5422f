/**
 * Reading JSON that `scan.ts` has already validated, without building objects: a value is the range of bytes it stands
 * in, so number tokens, key order, duplicate keys and escapes stay as they came.
 */
import { decodeRaw } from './strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null'

/** One JSON value: `bytes[start, end)`, valid JSON with no white space around it. */
export class JsonSlice {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number

  constructor(bytes: Buffer, start = 0, end = bytes.length) {
    this.bytes = bytes
    this.start = start
    this.end = end
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

/** The position after the string token that starts at `pos`. */
export function skipString(bytes: Uint8Array, start: number): number {
  let pos = start + 1
  for (;;) {
    const byte = bytes[pos] as number
    if (byte === QUOTE) return pos + 1
    pos += byte === BACKSLASH ? 2 : 1
  }
}

/** The position after the value that starts at `pos`; `end` bounds a bare number or literal. */
export function skipValue(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start]
  if (first === QUOTE) return skipString(bytes, start)
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return skipContainer(bytes, start)
  let pos = start
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte <= SPACE || byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) break
    pos++
  }
  return pos
}

function skipContainer(bytes: Uint8Array, start: number): number {
  let depth = 0
  let pos = start
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

/** The elements of an array, in order, one at a time. */
export function* elementsOf(array: JsonSlice): Generator<JsonSlice> {
  const { bytes, end } = array
  let pos = skipSpace(bytes, array.start + 1, end)
  while (bytes[pos] !== CLOSE_ARRAY) {
    const valueEnd = skipValue(bytes, pos, end)
    yield new JsonSlice(bytes, pos, valueEnd)
    pos = skipSpace(bytes, valueEnd, end)
    if (bytes[pos] === COMMA) pos = skipSpace(bytes, pos + 1, end)
  }
}

/** The members of an object as they stand: in document order, duplicates included. */
export function* membersOf(object: JsonSlice): Generator<Member> {
  const { bytes, end } = object
  let pos = skipSpace(bytes, object.start + 1, end)
  while (bytes[pos] !== CLOSE_OBJECT) {
    const keyEnd = skipString(bytes, pos)
    const key = new JsonSlice(bytes, pos, keyEnd)
    // Past the colon, which white space may surround.
    const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd, end) + 1, end)
    const valueEnd = skipValue(bytes, valueStart, end)
    yield { key, value: new JsonSlice(bytes, valueStart, valueEnd) }
    pos = skipSpace(bytes, valueEnd, end)
    if (bytes[pos] === COMMA) pos = skipSpace(bytes, pos + 1, end)
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
  let pos = skipSpace(bytes, array.start + 1, end)
  while (bytes[pos] !== CLOSE_ARRAY) {
    count++
    pos = skipSpace(bytes, skipValue(bytes, pos, end), end)
    if (bytes[pos] === COMMA) pos = skipSpace(bytes, pos + 1, end)
  }
  return count
}
