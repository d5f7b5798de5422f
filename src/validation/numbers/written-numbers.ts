/**
 * The numbers of a parsed value that a double does not hold, as they were written. Ajv needs objects, and in those they are
 * rounded; what is compared here is looked up by where it stands.
 */
import { randomUUID } from 'node:crypto'
import type { JsonSlice } from '../../core/json/slice.ts'
import { isWhole } from './decimal.ts'
import { eachToken, isNumber, isRounded } from './number-tokens.ts'

/** What may hold a value: an array, an object, or, around the root, nothing. */
export type Holder = object | undefined

export class WrittenNumbers {
  readonly #tokens: ReadonlyMap<Holder, ReadonlyMap<string | number, string>>

  constructor(tokens: ReadonlyMap<Holder, ReadonlyMap<string | number, string>> = new Map()) {
    this.#tokens = tokens
  }

  /** The token of the number that `holder` has under `key`; undefined where the double says the same. */
  tokenOf(holder: Holder, key: string | number = ''): string | undefined {
    return this.#tokens.get(holder)?.get(key)
  }

  /** {@link tokenOf}, or the double in digits. */
  textOf(value: number, holder: Holder, key?: string | number): string {
    return this.tokenOf(holder, key) ?? String(value)
  }
}

export const NONE_ROUNDED = new WrittenNumbers()

/** Stands for every number that is too large for a double, and for every one that rounding would make whole. */
const HUGE = Number.MAX_VALUE
const BROKEN = 0.5

export interface WrittenValue {
  readonly value: unknown
  readonly numbers: WrittenNumbers
}

/**
 * As `JSON.parse`, with the tokens of rounded numbers beside. Those are parsed as strings with a mark that nobody can have
 * foreseen, and put in place after.
 */
export function parseAsWritten(source: JsonSlice): WrittenValue {
  const mark = randomUUID()
  const tokens = new Map<Holder, Map<string | number, string>>()
  const noted = (text: string, holder: Holder, key: string | number): unknown => {
    if (!text.startsWith(mark)) return text
    const token = text.slice(mark.length)
    const known = tokens.get(holder)
    if (known === undefined) tokens.set(holder, new Map([[key, token]]))
    else known.set(key, token)
    return standIn(token)
  }
  const visit = (item: unknown, holder: Holder, key: string | number): unknown => {
    if (typeof item === 'string') return noted(item, holder, key)
    if (Array.isArray(item)) {
      for (let i = 0; i < item.length; i++) item[i] = visit(item[i], item, i)
    } else if (typeof item === 'object' && item !== null) {
      const members = item as Record<string, unknown>
      for (const name of Object.keys(members)) members[name] = visit(members[name], members, name)
    }
    return item
  }
  const value = visit(JSON.parse(marked(source, mark)), undefined, '')
  return { value, numbers: new WrittenNumbers(tokens) }
}

/** The text with `mark` and the token, as one string, in the place of every rounded number. */
function marked(source: JsonSlice, mark: string): string {
  const { bytes } = source
  const parts: string[] = []
  let done = source.start
  eachToken(source, (first, start, end) => {
    if (isNumber(first) && isRounded(bytes, start, end)) {
      const token = bytes.toString('latin1', start, end)
      parts.push(bytes.toString('utf8', done, start), `"${mark}${token}"`)
      done = end
    }
    return true
  })
  parts.push(bytes.toString('utf8', done, source.end))
  return parts.join('')
}

/** A finite number that is whole when the written one is. */
function standIn(token: string): number {
  const value = Number(token)
  if (!isWhole(token)) return BROKEN
  return Number.isFinite(value) ? value : Math.sign(value) * HUGE
}
