/**
 * Numbers of a parsed value that doubles would round, as they were written. Ajv needs objects, in
 * which such numbers are rounded. Comparisons here look the written number up by its parent and
 * key.
 */
import { randomUUID } from 'node:crypto'
import type { JsonSlice } from '../../core/json/slice.ts'
import { isExact, isWhole } from './decimal.ts'
import { eachToken, isNumber, isRespelled, isRounded } from './number-tokens.ts'

/** Parent of a value: an array, an object, or undefined for the root. */
export type Holder = object | undefined

/**
 * Numbers of one value, as written: the rounded ones, or for messages also those written unlike a
 * double.
 */
export class WrittenNumbers {
  readonly #tokens: ReadonlyMap<Holder, ReadonlyMap<string | number, string>>

  constructor(tokens: ReadonlyMap<Holder, ReadonlyMap<string | number, string>> = new Map()) {
    this.#tokens = tokens
  }

  /** Token of the number at `key` of `holder`. Undefined when it is none of these numbers. */
  tokenOf(holder: Holder, key: string | number = ''): string | undefined {
    return this.#tokens.get(holder)?.get(key)
  }

  /** {@link tokenOf}, or `value` in digits. */
  textOf(value: number, holder: Holder, key?: string | number): string {
    return this.tokenOf(holder, key) ?? String(value)
  }
}

/** For values without rounded numbers. */
export const NONE_ROUNDED = new WrittenNumbers()

/**
 * Stand-ins for rounded numbers: a whole number that is too large for a double, and any number with
 * a fraction.
 */
const HUGE = Number.MAX_VALUE
const BROKEN = 0.5

/** A parsed value with its rounded numbers. */
export interface WrittenValue {
  readonly value: unknown
  readonly numbers: WrittenNumbers
  /** For messages: the rounded numbers, and those that a double holds but writes otherwise. */
  readonly spellings: WrittenNumbers
}

/**
 * Parses JSON and keeps the tokens of rounded numbers. These are first parsed as strings with a
 * random mark, which no caller can know, and then replaced. The same is done with the first
 * `respelled` numbers that a double holds but writes otherwise, such as `2.50`.
 */
export function parseAsWritten(source: JsonSlice, respelled = 0): WrittenValue {
  const mark = randomUUID()
  const rounded = new Tokens()
  const spelled = new Tokens()
  const noted = (text: string, holder: Holder, key: string | number): unknown => {
    if (!text.startsWith(mark)) return text
    const token = text.slice(mark.length)
    spelled.add(holder, key, token)
    if (isExact(token)) return Number(token)
    rounded.add(holder, key, token)
    return standIn(token)
  }
  const parsed: unknown = JSON.parse(marked(source, mark, respelled))
  const value = typeof parsed === 'string' ? noted(parsed, undefined, '') : parsed
  // On a stack of its own: a schema may nest deeper than calls can.
  const open: object[] = isObject(value) ? [value] : []
  for (let holder = open.pop(); holder !== undefined; holder = open.pop()) {
    const members = holder as Record<string | number, unknown>
    for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
      const member = members[key]
      if (typeof member === 'string') members[key] = noted(member, holder, key)
      else if (isObject(member)) open.push(member)
    }
  }
  return {
    value,
    numbers: new WrittenNumbers(rounded.all),
    spellings: new WrittenNumbers(spelled.all),
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Tokens by parent and key. */
class Tokens {
  readonly all = new Map<Holder, Map<string | number, string>>()

  add(holder: Holder, key: string | number, token: string): void {
    const known = this.all.get(holder)
    if (known === undefined) this.all.set(holder, new Map([[key, token]]))
    else known.set(key, token)
  }
}

/**
 * The text with every rounded number, and the first `respelled` others that are written unlike a
 * double, replaced by a string of `mark` and its token.
 */
function marked(source: JsonSlice, mark: string, respelled: number): string {
  const { bytes } = source
  const parts: string[] = []
  let done = source.start
  let left = respelled
  const isMarked = (start: number, end: number): boolean => {
    if (isRounded(bytes, start, end)) return true
    if (left === 0 || !isRespelled(bytes, start, end)) return false
    left--
    return true
  }
  eachToken(source, (first, start, end) => {
    if (isNumber(first) && isMarked(start, end)) {
      const token = bytes.toString('latin1', start, end)
      parts.push(bytes.toString('utf8', done, start), `"${mark}${token}"`)
      done = end
    }
    return true
  })
  parts.push(bytes.toString('utf8', done, source.end))
  return parts.join('')
}

/** A finite number for a rounded one. It is whole when the written number is. */
function standIn(token: string): number {
  const value = Number(token)
  if (!isWhole(token)) return BROKEN
  return Number.isFinite(value) ? value : Math.sign(value) * HUGE
}
