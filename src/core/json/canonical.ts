/**
 * Canonical text: one spelling for equal documents, so that content hashes and prompt caches agree. Members are sorted by
 * their names' code points, white space goes, strings get the shortest escapes, number tokens stay as written, and of a
 * repeated key the last value counts. A lone surrogate stays an escape, which is well-formed text.
 */
import { charsOf, countTails } from '../text.ts'
import { outlineOf } from './scan.ts'
import { JsonSlice, nextItem, skipValue, valueAfter } from './slice.ts'
import { measureStringPart } from './string-view.ts'
import { decodeRaw, decodeText, encodeString, TokenReader } from './strings.ts'

const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const MAX_BYTES_PER_CHAR = 4
const SURROGATE = /[\ud800-\udfff]/

/** Canonical JSON of a value. */
export function canonicalJson(value: JsonSlice): string {
  return new Writer(value).value()
}

/** The text a model reads: a string bare (lone surrogates as U+FFFD), anything else as canonical JSON. */
export function contentString(value: JsonSlice): string {
  return value.kind === 'string' ? decodeText(value) : canonicalJson(value)
}

/** {@link contentString} when it has at most `maxChars` code points; of a longer one nothing is written. */
export function contentStringWithin(value: JsonSlice, maxChars: number): string | undefined {
  return leastChars(value, maxChars) > maxChars
    ? undefined
    : fitting(contentString(value), maxChars)
}

/** The code points of the content; fewer where that is past the limit, or not known before it is written. */
function leastChars(value: JsonSlice, maxChars: number): number {
  const { bytes, start, end } = value
  if (value.kind === 'string') return measureStringPart(bytes, start + 1, end - 1).chars
  const { compactBytes, escapedTails, hasRepeats } = outlineOf(value)
  const least = compactBytes / MAX_BYTES_PER_CHAR
  if (hasRepeats || least > maxChars) return least
  return compactBytes - escapedTails - countTails(bytes, start, end)
}

const fitting = (text: string, maxChars: number): string | undefined =>
  charsOf(text) <= maxChars ? text : undefined

/** Writes a value in one pass over its bytes. */
class Writer {
  readonly #bytes: Buffer
  readonly #end: number
  readonly #names: TokenReader
  #pos: number

  constructor(value: JsonSlice) {
    this.#names = new TokenReader(value.bytes)
    this.#bytes = value.bytes
    this.#end = value.end
    this.#pos = value.start
  }

  /** The value where it stands, past which it then stands. */
  value(): string {
    switch (this.#bytes[this.#pos]) {
      case OPEN_OBJECT:
        return this.#object()
      case OPEN_ARRAY:
        return this.#array()
      default:
        return canonicalToken(this.#token())
    }
  }

  #token(): JsonSlice {
    const start = this.#pos
    this.#pos = skipValue(this.#bytes, start, this.#end)
    return new JsonSlice(this.#bytes, start, this.#pos)
  }

  #array(): string {
    const parts: string[] = []
    this.#pos = nextItem(this.#bytes, this.#pos + 1, this.#end)
    while (this.#bytes[this.#pos] !== CLOSE_ARRAY) {
      parts.push(this.value())
      this.#pos = nextItem(this.#bytes, this.#pos, this.#end)
    }
    this.#pos++
    return `[${listed(parts)}]`
  }

  #object(): string {
    const members: NamedText[] = []
    this.#pos = nextItem(this.#bytes, this.#pos + 1, this.#end)
    while (this.#bytes[this.#pos] !== CLOSE_OBJECT) {
      const key = this.#token()
      this.#pos = valueAfter(this.#bytes, this.#pos, this.#end)
      members.push({ name: this.#names.decode(key), text: this.value() })
      this.#pos = nextItem(this.#bytes, this.#pos, this.#end)
    }
    this.#pos++
    return `{${listed(distinct(members).map(({ name, text }) => `${encodeString(name)}:${text}`))}}`
  }
}

/** A scalar's token: as written, unless there are escapes in it. */
function canonicalToken(token: JsonSlice): string {
  const { bytes, start, end } = token
  let pos = start
  while (pos < end && bytes[pos] !== BACKSLASH) pos++
  return pos === end ? token.toString() : encodeString(decodeRaw(token))
}

interface NamedText {
  readonly name: string
  readonly text: string
}

/** Sorted by name, of each name the last. By units, which is faster, where no name holds surrogates. */
function distinct(members: NamedText[]): readonly NamedText[] {
  const compare = members.some(({ name }) => SURROGATE.test(name))
    ? compareCodePoints
    : compareUnits
  members.sort((a, b) => compare(a.name, b.name))
  return members.filter(({ name }, i) => name !== members[i + 1]?.name)
}

const compareUnits = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1)

/** Not by `join`, which copies: every level of a deep value would copy all below it once more. */
function listed(parts: readonly string[]): string {
  let text = parts[0] ?? ''
  for (let i = 1; i < parts.length; i++) text += `,${parts[i]}`
  return text
}

/** Orders strings by code point, as their UTF-8 bytes are ordered; `<` would order UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    // Units from U+E000 on stand below surrogates, which stand for what lies above U+FFFF (a lone one is taken so too).
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

const rank = (unit: number): number =>
  unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800
