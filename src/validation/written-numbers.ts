/**
 * The numbers of a parsed value that a double does not hold, as they were written. Ajv needs objects, and in those they are
 * rounded; what is compared here is looked up by where it stands.
 */
import { isExact, isWhole } from './decimal.ts'

/** What may hold a value: an array, an object, or, around the root, nothing. */
export type Holder = object | undefined

export class WrittenNumbers {
  readonly #tokens: ReadonlyMap<Holder, ReadonlyMap<string, string>>

  constructor(tokens: ReadonlyMap<Holder, ReadonlyMap<string, string>> = new Map()) {
    this.#tokens = tokens
  }

  /** The token of the number that `holder` has under `key`; undefined where the double says the same. */
  tokenOf(holder: Holder, key: string | number = ''): string | undefined {
    return this.#tokens.get(holder)?.get(String(key))
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

/** TypeScript does not know yet that a reviver is given the source of a number. */
type Reviver = (
  this: object,
  key: string,
  value: unknown,
  context: { readonly source?: string },
) => unknown
const parse = JSON.parse as (text: string, reviver: Reviver) => unknown

export interface WrittenValue {
  readonly value: unknown
  readonly numbers: WrittenNumbers
}

/** Several times slower than `JSON.parse` alone; so for texts that need it. */
export function parseAsWritten(text: string): WrittenValue {
  const tokens = new Map<Holder, Map<string, string>>()
  const note = (holder: Holder, key: string, token: string): void => {
    const known = tokens.get(holder)
    if (known === undefined) tokens.set(holder, new Map([[key, token]]))
    else known.set(key, token)
  }
  const value = parse(text, function (key, parsed, { source = '' }) {
    if (typeof parsed !== 'number' || isExact(source)) return parsed
    note(source === text ? undefined : this, key, source)
    return standIn(source, parsed)
  })
  return { value, numbers: new WrittenNumbers(tokens) }
}

/** A finite number that is whole when the written one is. */
function standIn(token: string, value: number): number {
  if (!isWhole(token)) return BROKEN
  return Number.isFinite(value) ? value : Math.sign(value) * HUGE
}
