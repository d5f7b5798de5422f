/**
 * Previews: what stands in the transcript for a result that is too long for it, in the reference's
 * format (vectors: preview). A preview says what the value is, how large, and shows some of it.
 *
 * All budgets are bytes of UTF-8, cut at a code point. Tokens print as written and members keep
 * their order; of a repeated name the last value counts, in the first one's place. Every answer is
 * well-formed. Names, and values inside sampled objects,  are neither quoted nor clipped, as in the
 * reference; only the whole is, at a size that no vector comes near. Each answer is the part after
 * the handle, ` = ` included.
 */

import type { Entry } from '../json/outline.ts'
import { outlineOf } from '../json/scan.ts'
import { countElements, JsonSlice, membersOf, skipString } from '../json/slice.ts'
import { headBytes, tailBytes } from '../json/string-ends.ts'
import { measureString, type StringMeasure } from '../json/string-view.ts'
import { decodeRaw, isNamed, TokenReader } from '../json/strings.ts'
import {
  PREVIEW_ELEMENT_BYTES,
  PREVIEW_ELEMENT_MEMBERS,
  PREVIEW_HEAD_BYTES,
  PREVIEW_HEAD_ITEMS,
  PREVIEW_MAX_CHARS,
  PREVIEW_MEMBER_BYTES,
  PREVIEW_OBJECT_MEMBERS,
  PREVIEW_OBJECT_NAMES,
  PREVIEW_TAIL_BYTES,
  PREVIEW_TAIL_ITEMS,
  PREVIEW_WHOLE_TEXT_BYTES,
} from '../limits.ts'
import { clipHead, clipTail, firstChars } from '../text.ts'
import { quote } from './rust-debug.ts'

const WHOLE_ARRAY_ITEMS = PREVIEW_HEAD_ITEMS + PREVIEW_TAIL_ITEMS
const PREVIEW_DIGEST_CHARS = 16
const UNIT_BYTES = 1024
const MEGABYTE_BYTES = UNIT_BYTES * UNIT_BYTES
const PLAIN_MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+$/

/** What a preview needs of a text, however long. */
export interface TextExcerpt {
  /** All the text's bytes. */
  readonly bytes: number
  /** All its lines, as Rust's `str::lines` has them. */
  readonly lines: number
  /**
   * Its first {@link PREVIEW_WHOLE_TEXT_BYTES} bytes or more; all of a text that is shorter. May
   * end inside a code point.
   */
  readonly head: Buffer
  /**
   * Its last {@link PREVIEW_TAIL_BYTES} bytes or more; not read for a text that is shown whole. May
   * start inside one.
   */
  readonly tail: Buffer
}

export interface BinaryFacts {
  readonly mediaType: string
  readonly bytes: number
  /** The digest in hex, of which the start is shown. */
  readonly sha256: string
}

/**
 * A JSON value; a string previews as its text. Cut at {@link PREVIEW_MAX_CHARS}.
 *
 * @example previewJson(json('{"a": [1, 2]}')) // ' = json(a: array(len=2), bytes=11)'
 */
export function previewJson(value: JsonSlice): string {
  const preview = previewAny(value)
  if (preview.length <= PREVIEW_MAX_CHARS) return preview
  const shown = firstChars(preview, PREVIEW_MAX_CHARS)
  return shown.length < preview.length ? `${shown}…` : preview
}

function previewAny(value: JsonSlice): string {
  switch (value.kind) {
    case 'array':
      return previewArray(value)
    case 'object':
      return previewObject(value)
    case 'string':
      return previewString(value, measureString(value))
    default:
      return ` = ${clipToken(value, PREVIEW_WHOLE_TEXT_BYTES)}`
  }
}

/**
 * A string token of that size, as its text.
 *
 * @example previewString(json('"ab"'), { bytes: 2, lines: 1 }) // ' = text(len=2B, lines=1) "ab"'
 */
export function previewString(token: JsonSlice, { bytes, lines }: StringMeasure): string {
  const head = headBytes(token, PREVIEW_WHOLE_TEXT_BYTES)
  const tail = bytes > PREVIEW_WHOLE_TEXT_BYTES ? tailBytes(token, PREVIEW_TAIL_BYTES) : head
  return previewText({ bytes, lines, head, tail })
}

/**
 * A text: quoted whole, or its two ends.
 *
 * @example previewText({ bytes: 1, lines: 1, head: bytes('a'), tail: bytes('a') }) // ' = text(len=1B, lines=1) "a"'
 */
export function previewText({ bytes, lines, head, tail }: TextExcerpt): string {
  const size = `len=${humanBytes(bytes)}, lines=${lines}`
  if (bytes <= PREVIEW_WHOLE_TEXT_BYTES) return ` = text(${size}) ${quote(head.toString())}`
  const start = head.toString('utf8', 0, clipHead(head, PREVIEW_HEAD_BYTES))
  const from = clipTail(tail, PREVIEW_TAIL_BYTES)
  return ` = text(${size}, head=${quote(start)}, tail=${quote(tail.toString('utf8', from))})`
}

/**
 * Bytes that have no text view: ` = binary(type=image/png, len=1.1MB, sha256=0123456789abcdef…)`.
 *
 * @example previewBinary({ mediaType: 'image/png', bytes: 2, sha256: '0123456789abcdef00' }) // ' = binary(type=image/png, len=2B, sha256=0123456789abcdef…)'
 */
export function previewBinary({ mediaType, bytes, sha256 }: BinaryFacts): string {
  const type = clipText(mediaType, PREVIEW_ELEMENT_BYTES)
  const shown = PLAIN_MEDIA_TYPE.test(type) ? type : quote(type)
  const digest = sha256.slice(0, PREVIEW_DIGEST_CHARS)
  return ` = binary(type=${shown}, len=${humanBytes(bytes)}, sha256=${digest}…)`
}

/**
 * Hint after a preview, which tells a model how to hand on the whole value (vectors:
 * reference_hint).
 *
 * @example referenceHint('r1').startsWith('\n[full value retained') // true
 */
export function referenceHint(handle: string): string {
  return `\n[full value retained this run — pass "$${handle}" as a tool argument to operate on all of it, or "$${handle}.<field>" for one field]`
}

/** The same for bytes, which no tool argument can hold. */
export function rawReadHint(handle: string): string {
  return `\n[all bytes kept — a tool argument cannot hold them; GET …/results/${handle}/value reads them]`
}

/**
 * A size with one decimal from 1 KB on, ties to even like Rust's `{:.1}`: 1280 is `1.2KB`, 1792 is
 * `1.8KB`. The unit is chosen before rounding, so 1048575 is `1024.0KB`.
 */
export function humanBytes(bytes: number): string {
  if (bytes < UNIT_BYTES) return `${bytes}B`
  const unit = bytes < MEGABYTE_BYTES ? UNIT_BYTES : MEGABYTE_BYTES
  const scaled = (bytes % unit) * 10
  let tenths = Math.floor(bytes / unit) * 10 + Math.floor(scaled / unit)
  const doubledRest = (scaled % unit) * 2
  if (doubledRest > unit || (doubledRest === unit && tenths % 2 === 1)) tenths++
  return `${Math.floor(tenths / 10)}.${tenths % 10}${unit === UNIT_BYTES ? 'KB' : 'MB'}`
}

function previewArray(array: JsonSlice): string {
  const { entries: count, head, tail } = outlineOf(array)
  const listed = (entries: readonly Entry[]): string =>
    entries.map((entry) => element(entrySlice(array, entry), entry.size)).join(', ')
  if (count <= WHOLE_ARRAY_ITEMS) return ` = array(len=${count}, [${listed(head)}])`
  const start = listed(head.slice(0, PREVIEW_HEAD_ITEMS))
  const end = listed(tail.slice(-PREVIEW_TAIL_ITEMS))
  return ` = array(len=${count}, [:${PREVIEW_HEAD_ITEMS}]=[${start}], [-${PREVIEW_TAIL_ITEMS}:]=[${end}])`
}

const entrySlice = ({ bytes, start }: JsonSlice, entry: Entry): JsonSlice =>
  new JsonSlice(bytes, start + entry.valueStart, start + entry.end)

/** One element of an array, bounded but for its names. */
function element(value: JsonSlice, size: number): string {
  switch (value.kind) {
    case 'object':
      return elementObject(value)
    case 'array':
      return `array(len=${size})`
    case 'string':
      return quote(clipString(value, PREVIEW_ELEMENT_BYTES))
    default:
      return clipToken(value, PREVIEW_ELEMENT_BYTES)
  }
}

function elementObject(object: JsonSlice): string {
  const names: string[] = []
  const values: JsonSlice[] = []
  let more = ''
  for (const { key, value } of membersOf(object)) {
    const known = names.findIndex((name) => isNamed(key, name))
    if (known >= 0) values[known] = value
    else if (names.length < PREVIEW_ELEMENT_MEMBERS) {
      names.push(decodeRaw(key))
      values.push(value)
    } else more = ', …'
  }
  const parts = names.map(
    (name, at) => `${name.toWellFormed()}:${elementMember(values[at] as JsonSlice)}`,
  )
  return `{${parts.join(',')}${more}}`
}

function elementMember(value: JsonSlice): string {
  switch (value.kind) {
    case 'object':
      return '{…}'
    case 'array':
      return clipText(`array(${countElements(value)})`, PREVIEW_MEMBER_BYTES)
    case 'string':
      return clipString(value, PREVIEW_MEMBER_BYTES)
    default:
      return clipToken(value, PREVIEW_MEMBER_BYTES)
  }
}

function previewObject(object: JsonSlice): string {
  const { size, compactBytes: bytes } = outlineOf(object)
  if (size > PREVIEW_OBJECT_MEMBERS) {
    const names = [...firstMembers(object, PREVIEW_OBJECT_NAMES).keys()].join(', ').toWellFormed()
    return ` = json(keys=${size} total, first=[${names}, …], bytes=${bytes})`
  }
  const fields = [...firstMembers(object, size)].map(
    ([name, member]) => `${name.toWellFormed()}: ${field(member)}`,
  )
  return ` = json(${fields.join(', ')}, bytes=${bytes})`
}

/** The first distinct members by name, in document order, each with its last value. */
function firstMembers(object: JsonSlice, most: number): ReadonlyMap<string, SizedValue> {
  const { head, hasRepeats, entries } = outlineOf(object)
  const members = new Map<string, SizedValue>()
  for (const entry of head) {
    const start = object.start + entry.start
    const name = decodeRaw(new JsonSlice(object.bytes, start, skipString(object.bytes, start)))
    if (members.has(name) || members.size < most) {
      members.set(name, { value: entrySlice(object, entry), size: entry.size })
    }
  }
  return hasRepeats && entries > head.length ? lastMembers(object, most) : members
}

/** The same of an object that repeats a name past the entries that a scan notes. */
function lastMembers(object: JsonSlice, most: number): ReadonlyMap<string, SizedValue> {
  const last = new Map<string, JsonSlice>()
  const names = new TokenReader(object.bytes)
  for (const { key, value } of membersOf(object)) {
    const name = names.decode(key)
    if (last.has(name) || last.size < most) last.set(name, value)
  }
  return new Map([...last].map(([name, value]) => [name, { value, size: outlineOf(value).size }]))
}

interface SizedValue {
  readonly value: JsonSlice
  /** Of an array its elements, of an object its distinct members. */
  readonly size: number
}

/** One member of an object: what is small as it is, the rest by kind and size. */
function field({ value, size }: SizedValue): string {
  switch (value.kind) {
    case 'object':
      return `json(keys=${size})`
    case 'array':
      return `array(len=${size})`
    case 'string': {
      const { bytes, lines } = measureString(value)
      return bytes > PREVIEW_ELEMENT_BYTES
        ? `text(len=${humanBytes(bytes)}, lines=${lines})`
        : quote(headBytes(value, PREVIEW_ELEMENT_BYTES).toString())
    }
    default:
      return clipToken(value, PREVIEW_WHOLE_TEXT_BYTES)
  }
}

/** A string's text, clipped; the mark comes on top of the budget. */
function clipString(token: JsonSlice, budgetBytes: number): string {
  return clipBytes(headBytes(token, budgetBytes), budgetBytes)
}

function clipText(text: string, budgetBytes: number): string {
  return clipBytes(Buffer.from(text), budgetBytes)
}

function clipToken(token: JsonSlice, budgetBytes: number): string {
  return clipBytes(token.source, budgetBytes)
}

function clipBytes(bytes: Buffer, budgetBytes: number): string {
  const end = clipHead(bytes, budgetBytes)
  return `${bytes.toString('utf8', 0, end)}${end < bytes.length ? '…' : ''}`
}
