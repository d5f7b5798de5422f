/**
 * Keywords that replace Ajv's own, which are wrong for some values.
 *
 * Ajv's deep comparison calls members `valueOf`, `toString` and `constructor` of the compared
 * values, and compares every pair of elements. Here values are equal when their keys are (`keyOf`).
 * Ajv divides doubles, so that 0.3 is no multiple of 0.1; here digits are divided. Numbers that
 * were rounded are compared as they were written, also by formats.
 */
import type { Ajv, KeywordDefinition } from 'ajv'
import type { DataValidationCxt } from 'ajv/dist/types/index.js'
import { compareDecimals, decimalKey, isMultipleOf } from './decimal.ts'
import { formatCheck } from './formats.ts'
import type { Holder, WrittenNumbers } from './written-numbers.ts'

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Rounded numbers of a schema, and of the value that is being validated. */
export interface Numbers {
  readonly schema: WrittenNumbers
  value: WrittenNumbers
}

/** A text that is the same for equal JSON values: members in any order, numbers by value. */
function keyOf(value: unknown, numbers: WrittenNumbers, holder: Holder, key?: string | number) {
  const texts = (item: unknown, at: Holder, name?: string | number): string => {
    if (typeof item === 'string') return JSON.stringify(item)
    if (typeof item === 'number') {
      const token = numbers.tokenOf(at, name)
      return token === undefined ? String(item) : decimalKey(token)
    }
    if (Array.isArray(item)) return `[${item.map((each, i) => texts(each, item, i)).join(',')}]`
    if (!isContainer(item)) return String(item)
    const members = Object.entries(item).map(
      ([member, each]) => `${JSON.stringify(member)}:${texts(each, item, member)}`,
    )
    return `{${members.sort().join(',')}}`
  }
  return texts(value, holder, key)
}

/**
 * Positions, from 0, of the first element that repeats an earlier one: the earlier, then the
 * repeating one. Undefined when all differ.
 */
export function repeatIn(
  items: readonly unknown[],
  numbers: WrittenNumbers,
): readonly [first: number, second: number] | undefined {
  const seen = new Map<string, number>()
  for (const [i, item] of items.entries()) {
    const key = keyOf(item, numbers, items, i)
    const first = seen.get(key)
    if (first !== undefined) return [first, i]
    seen.set(key, i)
  }
  return undefined
}

type Definition = KeywordDefinition & { readonly keyword: string }
type Place = DataValidationCxt | undefined

/** The parent of a value. Ajv's type omits that it is undefined for the root. */
const holderOf = (place: Place): Holder => place?.parentData as Holder

function isOneOf(options: readonly unknown[], holder: Holder, numbers: Numbers) {
  const inside = Array.isArray(holder)
  const keys = new Set(
    options.map((option, i) => keyOf(option, numbers.schema, holder, inside ? i : 'const')),
  )
  const hasContainers = options.some(isContainer)
  return (value: unknown, place?: DataValidationCxt): boolean =>
    (hasContainers || !isContainer(value)) &&
    keys.has(keyOf(value, numbers.value, holderOf(place), place?.parentDataProperty))
}

function isMultiple(step: number, schema: object, numbers: Numbers) {
  const isWholeStep = Number.isSafeInteger(step)
  const stepText = numbers.schema.textOf(step, schema, 'multipleOf')
  return (value: number, place?: DataValidationCxt): boolean => {
    const token = numbers.value.tokenOf(holderOf(place), place?.parentDataProperty)
    if (token === undefined && isWholeStep && Number.isSafeInteger(value)) return value % step === 0
    return isMultipleOf(token ?? String(value), stepText)
  }
}

const equality = (numbers: Numbers): readonly Definition[] => [
  {
    keyword: 'enum',
    schemaType: 'array',
    errors: false,
    compile: (options: readonly unknown[]) => isOneOf(options, options, numbers),
  },
  {
    keyword: 'const',
    errors: false,
    compile: (option: unknown, schema) => isOneOf([option], schema, numbers),
  },
  {
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    errors: false,
    compile: (isWanted: boolean) => (items: readonly unknown[]) =>
      !isWanted || repeatIn(items, numbers.value) === undefined,
  },
  {
    keyword: 'multipleOf',
    type: 'number',
    schemaType: 'number',
    errors: false,
    compile: (step: number, schema) => isMultiple(step, schema, numbers),
  },
]

const LIMITS: Readonly<Record<string, (difference: number) => boolean>> = {
  minimum: (difference) => difference >= 0,
  maximum: (difference) => difference <= 0,
  exclusiveMinimum: (difference) => difference > 0,
  exclusiveMaximum: (difference) => difference < 0,
}

const limits = (numbers: Numbers): readonly Definition[] =>
  Object.entries(LIMITS).map(([keyword, holds]) => ({
    keyword,
    type: 'number',
    schemaType: 'number',
    errors: false,
    compile: (limit: number, schema) => {
      const limitToken = numbers.schema.tokenOf(schema, keyword)
      return (value: number, place?: DataValidationCxt): boolean => {
        const token = numbers.value.tokenOf(holderOf(place), place?.parentDataProperty)
        if (token === undefined && limitToken === undefined) return holds(value - limit)
        return holds(compareDecimals(token ?? String(value), limitToken ?? String(limit)))
      }
    },
  }))

const format = ({ formats, opts }: Ajv, numbers: Numbers): Definition => ({
  keyword: 'format',
  type: ['string', 'number'],
  schemaType: 'string',
  errors: false,
  compile: (name: string) => {
    if (opts.validateFormats === false) return () => true
    const check = formatCheck(name, formats)
    return (value: string | number, place?: DataValidationCxt): boolean =>
      check(value, () =>
        numbers.value.textOf(Number(value), holderOf(place), place?.parentDataProperty),
      )
  },
})

/**
 * Replaces Ajv's keywords by these. Those that only compare with a limit are replaced when numbers
 * may have been rounded.
 */
export function replaceKeywords(ajv: Ajv, numbers: Numbers, mayBeRounded: boolean): void {
  const always = [...equality(numbers), format(ajv, numbers)]
  const definitions = mayBeRounded ? [...always, ...limits(numbers)] : always
  for (const definition of definitions) ajv.removeKeyword(definition.keyword).addKeyword(definition)
  // Ajv refuses schemas with draft-04's `id`. In later drafts it is an unknown keyword.
  ajv.removeKeyword('id')
}
