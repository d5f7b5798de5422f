/**
 * Canonical text: one spelling for equal documents, so that content hashes and prompt caches agree. Members are sorted by
 * their names' code points, white space goes, strings get the shortest escapes, number tokens stay as written, and of a
 * repeated key the last value counts. A lone surrogate stays an escape, which is well-formed text.
 */
import { charsOf } from '../text.ts'
import { JsonSlice, nextItem, skipRest, skipValue, valueAfter } from './slice.ts'
import { decodeRaw, decodeText, encodeString } from './strings.ts'

const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
/** A code point takes at most two UTF-16 units: past this many the limit in chars is certainly exceeded. */
const MAX_UNITS_PER_CHAR = 2

/** Canonical JSON of a value. */
export function canonicalJson(value: JsonSlice): string {
  return new Writer(value, Number.POSITIVE_INFINITY).value() as string
}

/** The text a model reads: a string bare (lone surrogates as U+FFFD), anything else as canonical JSON. */
export function contentString(value: JsonSlice): string {
  return value.kind === 'string' ? decodeText(value) : canonicalJson(value)
}

/** {@link contentString} when it has at most `maxChars` code points; writes little more than that when it has more. */
export function contentStringWithin(value: JsonSlice, maxChars: number): string | undefined {
  const text = value.kind === 'string' ? decodeText(value) : canonicalWithin(value, maxChars)
  return text !== undefined && charsOf(text) <= maxChars ? text : undefined
}

function canonicalWithin(value: JsonSlice, maxChars: number): string | undefined {
  const writer = new Writer(value, maxChars * MAX_UNITS_PER_CHAR)
  // What was counted may have been the value of a key that comes again.
  return writer.value() ?? (writer.hasRepeats ? canonicalJson(value) : undefined)
}

/**
 * Writes a value in one pass over its bytes, whatever its depth. Past the budget it writes no more and only looks for
 * repeated keys in the objects that are still open.
 */
class Writer {
  readonly #bytes: Buffer
  readonly #end: number
  #pos: number
  #leftUnits: number
  #hasRepeats = false

  constructor(value: JsonSlice, maxUnits: number) {
    this.#bytes = value.bytes
    this.#end = value.end
    this.#pos = value.start
    this.#leftUnits = maxUnits
  }

  get hasRepeats(): boolean {
    return this.#hasRepeats
  }

  /** The value where it stands, past which it then stands; undefined when that exceeds the budget. */
  value(): string | undefined {
    switch (this.#bytes[this.#pos]) {
      case OPEN_OBJECT:
        return this.#object()
      case OPEN_ARRAY:
        return this.#array()
      default: {
        const token = this.#token()
        const isString = token.kind === 'string'
        return this.#take(isString ? encodeString(decodeRaw(token)) : token.toString())
      }
    }
  }

  #token(): JsonSlice {
    const start = this.#pos
    this.#pos = skipValue(this.#bytes, start, this.#end)
    return new JsonSlice(this.#bytes, start, this.#pos)
  }

  #take(text: string): string | undefined {
    return this.#spend(text.length) ? text : undefined
  }

  /** Whether so many units, and the comma, colon or bracket after them, are within the budget. */
  #spend(units: number): boolean {
    this.#leftUnits -= units + 1
    return this.#leftUnits >= 0
  }

  #array(): string | undefined {
    const parts: string[] = []
    const fits = this.#spend(0)
    this.#pos = nextItem(this.#bytes, this.#pos + 1, this.#end)
    while (this.#bytes[this.#pos] !== CLOSE_ARRAY) {
      const part = fits ? this.value() : undefined
      if (part === undefined) {
        this.#pos = skipRest(this.#bytes, this.#pos)
        return undefined
      }
      parts.push(part)
      this.#pos = nextItem(this.#bytes, this.#pos, this.#end)
    }
    this.#pos++
    return fits ? `[${listed(parts)}]` : undefined
  }

  #object(): string | undefined {
    const parts = new Map<string, string>()
    let fits = this.#spend(0)
    this.#pos = nextItem(this.#bytes, this.#pos + 1, this.#end)
    while (this.#bytes[this.#pos] !== CLOSE_OBJECT) {
      const name = decodeRaw(this.#token())
      this.#pos = valueAfter(this.#bytes, this.#pos, this.#end)
      if (parts.has(name)) this.#hasRepeats = true
      if (fits) {
        const key = this.#take(encodeString(name))
        const part = this.value()
        fits = key !== undefined && part !== undefined
        parts.set(name, `${key}:${part}`)
      } else this.#token()
      this.#pos = nextItem(this.#bytes, this.#pos, this.#end)
    }
    this.#pos++
    if (!fits) return undefined
    const sorted = [...parts].sort(([a], [b]) => compareCodePoints(a, b))
    return `{${listed(sorted.map(([, part]) => part))}}`
  }
}

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
