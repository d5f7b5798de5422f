/**
 * What a preview says of sizes, counted over the bytes in one walk: nothing is decoded but the keys of an object that may
 * repeat one, and memory goes with the members of the objects that are open, not with the document.
 *
 * All figures are of the document as `canonical.ts` writes it: no white space, shortest escapes, of a repeated key the last
 * value alone. Texts count as they are shown, each lone surrogate as U+FFFD.
 */

import { wordsOf } from '../text.ts'
import { compactBytes, escapeBytes, escapedCode, nextSpecial, utf8Bytes } from './escape.ts'
import { OpenMembers } from './open-members.ts'
import { JsonSlice, skipSpace, skipValue } from './slice.ts'
import { decodeRaw } from './strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const LF = 0x0a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const HASH_FACTOR = 31

export interface JsonMeasure {
  /** Length of the compact JSON. */
  readonly bytes: number
  /** Of a string its UTF-8 bytes, of an array its elements, of an object its distinct members; else 0. */
  readonly size: number
  /** Of a string its lines as Rust's `str::lines` has them; else 0. */
  readonly lines: number
}

export interface MeasuredMember extends JsonMeasure {
  readonly value: JsonSlice
}

export interface ObjectMeasure extends JsonMeasure {
  /** The first distinct members by name, in document order, as many as were asked for. */
  readonly members: ReadonlyMap<string, MeasuredMember>
}

/** Measures any value. */
export function measureJson(value: JsonSlice): JsonMeasure {
  const meter = new Meter(value)
  const bytes = meter.value()
  return { bytes, size: meter.size, lines: meter.lines }
}

/** Measures an object and each of its first `keepMembers` distinct members. */
export function measureObject(object: JsonSlice, keepMembers: number): ObjectMeasure {
  const meter = new Meter(object)
  const sizes = new Map<string, number>()
  const members = new Map<string, MeasuredMember>()
  let total = 0
  meter.members(({ key, keyBytes, valueStart, valueBytes }) => {
    const name = decodeRaw(key)
    total += keyBytes + valueBytes - (sizes.get(name) ?? 0)
    sizes.set(name, keyBytes + valueBytes)
    if (!members.has(name) && members.size >= keepMembers) return
    const value = new JsonSlice(object.bytes, valueStart, meter.pos)
    members.set(name, { value, bytes: valueBytes, size: meter.size, lines: meter.lines })
  })
  return { bytes: bracketed(total, sizes.size, 2), size: sizes.size, lines: 0, members }
}

/** Brackets, commas, and what else each entry needs (an object's colon). */
const bracketed = (entriesBytes: number, entries: number, perEntryBytes: number): number =>
  entriesBytes + 2 + Math.max(0, entries * perEntryBytes - 1)

interface MemberMeasure {
  readonly key: JsonSlice
  readonly keyBytes: number
  readonly valueStart: number
  readonly valueBytes: number
}

class Meter {
  readonly #bytes: Buffer
  readonly #words: Int32Array
  readonly #end: number
  readonly #members: OpenMembers
  #keyEscaped = false
  #keyHash = 0
  /** Where the value measured last ends, and the figures that only some kinds have. */
  pos: number
  size = 0
  lines = 0

  constructor(value: JsonSlice) {
    this.#bytes = value.bytes
    this.#words = wordsOf(value.bytes)
    this.#end = value.end
    this.#members = new OpenMembers(value.bytes)
    this.pos = value.start
  }

  /** The compact length of the value at `pos`. */
  value(): number {
    switch (this.#bytes[this.pos]) {
      case QUOTE:
        return this.#string()
      case OPEN_OBJECT:
        return this.#object()
      case OPEN_ARRAY:
        return this.#array()
      default: {
        const start = this.pos
        this.pos = skipValue(this.#bytes, start, this.#end)
        this.size = 0
        this.lines = 0
        return this.pos - start
      }
    }
  }

  /** Tells of each member of the object at `pos`, right after its value was measured. */
  members(seen: (member: MemberMeasure) => void): void {
    this.#open()
    while (this.#bytes[this.pos] !== CLOSE_OBJECT) {
      const keyStart = this.pos
      const keyBytes = this.#key()
      const key = new JsonSlice(this.#bytes, keyStart, this.pos)
      this.#colon()
      const valueStart = this.pos
      const valueBytes = this.value()
      seen({ key, keyBytes, valueStart, valueBytes })
      this.#next()
    }
    this.pos++
  }

  #open(): void {
    this.pos = skipSpace(this.#bytes, this.pos + 1, this.#end)
  }

  #colon(): void {
    this.pos = skipSpace(this.#bytes, skipSpace(this.#bytes, this.pos, this.#end) + 1, this.#end)
  }

  /** From the end of an entry to the next one, or to the closing bracket. */
  #next(): void {
    this.pos = skipSpace(this.#bytes, this.pos, this.#end)
    if (this.#bytes[this.pos] === COMMA) this.#open()
  }

  #array(): number {
    let count = 0
    let total = 0
    this.#open()
    while (this.#bytes[this.pos] !== CLOSE_ARRAY) {
      total += this.value()
      count++
      this.#next()
    }
    this.pos++
    this.size = count
    this.lines = 0
    return bracketed(total, count, 1)
  }

  #object(): number {
    const members = this.#members
    const first = members.count
    let escaped = false
    this.#open()
    while (this.#bytes[this.pos] !== CLOSE_OBJECT) {
      const keyStart = this.pos
      const keyBytes = this.#key()
      escaped ||= this.#keyEscaped
      const index = members.add(keyStart, this.#keyHash)
      this.#colon()
      members.setSize(index, keyBytes + this.value())
      this.#next()
    }
    this.pos++
    const { total, distinct } = members.close(first, escaped)
    this.size = distinct
    this.lines = 0
    return bracketed(total, distinct, 2)
  }

  /** A key's compact length; notes its hash, or that it is escaped and so one spelling of several. */
  #key(): number {
    const bytes = this.#bytes
    const start = this.pos
    let pos = start + 1
    let hash = 0
    for (let byte = bytes[pos] as number; byte !== QUOTE; byte = bytes[++pos] as number) {
      if (byte === BACKSLASH) {
        this.#keyEscaped = true
        return this.#string()
      }
      hash = (Math.imul(hash, HASH_FACTOR) + byte) | 0
    }
    this.#keyEscaped = false
    this.#keyHash = hash
    this.pos = pos + 1
    return pos + 1 - start
  }

  #string(): number {
    const bytes = this.#bytes
    const first = this.pos + 1
    let pos = first
    // What escapes take more or less than their source; plain bytes count as they stand.
    let compactGrowth = 0
    let textGrowth = 0
    let newlines = 0
    let lineStart = first
    for (;;) {
      pos = nextSpecial(bytes, this.#words, pos)
      if (bytes[pos] === QUOTE) break
      const code = escapedCode(bytes, pos)
      const taken = escapeBytes(bytes, pos, code)
      pos += taken
      compactGrowth += compactBytes(code) - taken
      textGrowth += utf8Bytes(code) - taken
      if (code === LF) {
        newlines++
        lineStart = pos
      }
    }
    this.pos = pos + 1
    this.size = pos - first + textGrowth
    this.lines = pos > lineStart ? newlines + 1 : newlines
    return pos - first + 2 + compactGrowth
  }
}
