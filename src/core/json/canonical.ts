/**
 * Canonical text: one spelling for equal documents, so that content hashes and prompt caches agree. Members are sorted by
 * their names' code points, white space goes, strings get the shortest escapes, number tokens stay as written, and of a
 * repeated key the last value counts. A lone surrogate stays an escape, which is well-formed text.
 */
import { charsOf } from '../text.ts'
import { distinctMembersOf, elementsOf, type JsonSlice } from './slice.ts'
import { decodeRaw, decodeText, encodeString } from './strings.ts'

/** Canonical JSON of a value. */
export function canonicalJson(value: JsonSlice): string {
  return write(value, new Budget(Number.POSITIVE_INFINITY)) as string
}

/** The text a model reads: a string bare (lone surrogates as U+FFFD), anything else as canonical JSON. */
export function contentString(value: JsonSlice): string {
  return value.kind === 'string' ? decodeText(value) : canonicalJson(value)
}

/** {@link contentString} when it has at most `maxChars` code points; stops early when it has more. */
export function contentStringWithin(value: JsonSlice, maxChars: number): string | undefined {
  const text = value.kind === 'string' ? decodeText(value) : write(value, new Budget(maxChars))
  return text !== undefined && charsOf(text) <= maxChars ? text : undefined
}

/** Counts what is written, so that a document far over the limit is left early. */
class Budget {
  #leftUnits: number

  constructor(maxChars: number) {
    // A code point takes at most two UTF-16 units: past this many the limit is certainly exceeded.
    this.#leftUnits = maxChars * 2
  }

  take(text: string): string | undefined {
    this.#leftUnits -= text.length
    return this.#leftUnits < 0 ? undefined : text
  }
}

function write(value: JsonSlice, budget: Budget): string | undefined {
  switch (value.kind) {
    case 'object':
      return writeObject(value, budget)
    case 'array':
      return writeArray(value, budget)
    case 'string':
      return budget.take(encodeString(decodeRaw(value)))
    case 'number':
    case 'boolean':
    case 'null':
      return budget.take(value.toString())
    default:
      return value.kind satisfies never
  }
}

function writeArray(value: JsonSlice, budget: Budget): string | undefined {
  const parts: string[] = []
  for (const element of elementsOf(value)) {
    const part = write(element, budget)
    if (part === undefined) return undefined
    parts.push(part)
  }
  return `[${parts.join(',')}]`
}

function writeObject(value: JsonSlice, budget: Budget): string | undefined {
  const parts: (readonly [name: string, text: string])[] = []
  for (const [name, member] of distinctMembersOf(value)) {
    const key = budget.take(encodeString(name))
    const part = key === undefined ? undefined : write(member.value, budget)
    if (part === undefined) return undefined
    parts.push([name, `${key}:${part}`])
  }
  parts.sort(([a], [b]) => compareCodePoints(a, b))
  return `{${parts.map(([, text]) => text).join(',')}}`
}

/** Orders strings by code point, as their UTF-8 bytes are ordered; `<` would order UTF-16 units. */
export function compareCodePoints(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i)
    const y = b.charCodeAt(i)
    // Units from U+E000 on stand below surrogates, which stand for what lies above U+FFFF.
    if (x !== y) return rank(x) - rank(y)
  }
  return a.length - b.length
}

const rank = (unit: number): number =>
  unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800
