/**
 * Keywords that Ajv's own versions get wrong for callers' data. Its deep comparison calls the members `valueOf`,
 * `toString` and `constructor` of the values it compares, and compares every pair of elements; here values are equal when
 * their keys are. Patterns are tried with the `u` flag and, where that forbids them, without.
 */
import type { Ajv, KeywordDefinition } from 'ajv'

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** A text that equal JSON values share: members in any order, numbers by value. */
function keyOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(keyOf).join(',')}]`
  if (!isContainer(value)) return String(value)
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${keyOf(member)}`,
  )
  return `{${members.sort().join(',')}}`
}

/** The positions of the first element that occurred before, and of that earlier one. */
export function repeatIn(
  items: readonly unknown[],
): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    const key = keyOf(item)
    const first = seen.get(key)
    if (first !== undefined) return [first, i]
    seen.set(key, i)
  }
  return undefined
}

function isOneOf(options: readonly unknown[]): (value: unknown) => boolean {
  const keys = new Set(options.map(keyOf))
  const hasContainers = options.some(isContainer)
  return (value) => (hasContainers || !isContainer(value)) && keys.has(keyOf(value))
}

const KEYWORDS: readonly (KeywordDefinition & { readonly keyword: string })[] = [
  { keyword: 'enum', schemaType: 'array', errors: false, compile: isOneOf },
  { keyword: 'const', errors: false, compile: (option: unknown) => isOneOf([option]) },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    compile: (isWanted: boolean) => (items: readonly unknown[]) =>
      !isWanted || repeatIn(items) === undefined,
  },
]

/** Puts these keywords in the place of Ajv's. */
export function replaceKeywords(ajv: Ajv): void {
  for (const definition of KEYWORDS) ajv.removeKeyword(definition.keyword).addKeyword(definition)
  // Ajv refuses schemas that carry draft-04's `id`; in the drafts since it is one unknown keyword more.
  ajv.removeKeyword('id')
}

/** A `pattern` that is no regular expression in either mode. */
export class PatternError extends Error {
  readonly pattern: string

  constructor(pattern: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'PatternError'
    this.pattern = pattern
  }
}

/** The expression as Unicode mode reads it, or, where that mode forbids it, as plain ECMAScript does. */
export function regExpOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    try {
      return new RegExp(pattern)
    } catch (cause) {
      throw new PatternError(pattern, cause)
    }
  }
}
