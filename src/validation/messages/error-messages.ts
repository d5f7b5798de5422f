/**
 * Texts of errors, keyword by keyword, from which a model can repair its call. Each tells what was
 * expected and what was received, and often what to do. Only quoted samples are clipped here, not
 * the texts.
 */
import type { ErrorObject } from 'ajv'
import { charsOf } from '../../core/text.ts'
import { type Numbers, repeatIn } from '../numbers/exact-keywords.ts'
import { NONE_ROUNDED } from '../numbers/written-numbers.ts'
import { count, list, quote } from '../quote-data.ts'
import { isObject, type SchemaObject } from '../tool-schema.ts'
import { asList, listWritten, outline, outlines, showWritten } from './describe-schema.ts'
import { mismatchText, typesText } from './type-words.ts'
import type { Alternatives } from './union-errors.ts'

/** Text of one error. */
export interface Words {
  /** Completes "The value at this path …". */
  readonly message: string
  readonly expected: string | null
}

/** Parameters of an error as Ajv gives them. They depend on the keyword. */
interface Params {
  readonly [name: string]: unknown
  readonly failingKeyword?: unknown
  readonly limit?: unknown
  readonly maxContains?: unknown
  readonly minContains?: unknown
  readonly missingProperty?: unknown
  readonly passingSchemas?: unknown
  readonly property?: unknown
  readonly propertyName?: unknown
}

/** One error of Ajv, with the schema and the data that it is about. */
interface Fault {
  readonly keyword: string
  readonly params: Params
  /** Value of the keyword. */
  readonly rule: unknown
  readonly schema: SchemaObject
  readonly data: unknown
  /** Rounded numbers of the schema and the data, as they were written. */
  readonly numbers: Numbers
  /**
   * End of the sentence about a union that nothing matched: what each alternative expects. Else
   * empty.
   */
  readonly alternatives: string
}

const NONE: Numbers = Object.freeze({ schema: NONE_ROUNDED, value: NONE_ROUNDED })

type Describe = (fault: Fault) => Words

const COMPARISONS: Readonly<Record<string, string>> = {
  minimum: 'at least',
  maximum: 'at most',
  exclusiveMinimum: 'more than',
  exclusiveMaximum: 'less than',
}

const must = (expected: string, ending = ''): Words => ({
  message: `must be ${expected}${ending}`,
  expected,
})

const namesOf = (value: unknown): readonly string[] => (isObject(value) ? Object.keys(value) : [])

function describeType({ rule, schema, data }: Fault): Words {
  const types = asList(rule).map(String)
  if (schema.nullable === true) types.push('null')
  return must(typesText(types), mismatchText(types, data))
}

function describeRequired({ params, schema, numbers }: Fault): Words {
  const name = String(params.missingProperty)
  const member = quote(name)
  const properties = schema.properties
  const own = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  const what = outline(own, numbers.schema)
  return {
    message: `lacks the required member ${member}`,
    expected: what === undefined ? `member ${member}` : `member ${member}: ${what}`,
  }
}

function describeDependent({ params }: Fault): Words {
  const wanted = quote(String(params.missingProperty))
  return {
    message: `has the member ${quote(String(params.property))}, and therefore must have ${wanted} as well`,
    expected: `member ${wanted}`,
  }
}

const describeExtra =
  (param: string): Describe =>
  ({ params, schema }) => {
    const allowed = namesOf(schema.properties)
    const known = allowed.length === 0 ? '' : `; its members are ${list(allowed)}`
    return {
      message: `must not have the member ${quote(String(params[param]))}${known}`,
      expected: allowed.length === 0 ? null : `only ${list(allowed)}`,
    }
  }

/** Text for the value of the keyword. Numbers are shown as they were written. */
const ruleText = ({ rule, keyword, schema, numbers }: Fault): string =>
  showWritten(rule, numbers.schema, schema, keyword)

const describeLimit: Describe = (fault) => must(`${COMPARISONS[fault.keyword]} ${ruleText(fault)}`)

function describeEnum({ rule, numbers }: Fault): Words {
  const options = asList(rule)
  return must(`one of ${listWritten(options, numbers.schema)}`)
}

const describeSize =
  (thing: string, sizeOf: (data: never) => number): Describe =>
  ({ keyword, rule, data }) => {
    const bound = keyword.startsWith('min') ? 'at least' : 'at most'
    const expected = `${bound} ${count(Number(rule), thing)}`
    return { message: `must have ${expected}, but has ${sizeOf(data as never)}`, expected }
  }

const describeChars = describeSize('character', charsOf)
const describeItems = describeSize('item', (data: readonly unknown[]) => data.length)
const describeMembers = describeSize('member', (data: object) => Object.keys(data).length)

const describeSurplus: Describe = ({ params, data }) => {
  const expected = `at most ${count(Number(params.limit), 'item')}`
  return { message: `must have ${expected}, but has ${asList(data).length}`, expected }
}

function describeContains({ params, rule, numbers }: Fault): Words {
  const { minContains, maxContains } = params
  const most = maxContains === undefined ? '' : ` and at most ${String(maxContains)}`
  const what = outline(rule, numbers.schema)
  const expected = `at least ${String(minContains)}${most} matching ${Number(minContains) === 1 && most === '' ? 'item' : 'items'}`
  return { message: `must contain ${expected}${what === undefined ? '' : ` (${what})`}`, expected }
}

function describeOneOf({ params, rule, numbers, alternatives }: Fault): Words {
  const passing = params.passingSchemas
  const found = Array.isArray(passing) ? `both ${passing.join(' and ')}` : 'none'
  const among = `${asList(rule).length} alternatives`
  return {
    message: `must match exactly one of ${among}, but matches ${found}${alternatives}`,
    expected: outlines(rule, numbers.schema),
  }
}

const describeAnyOf: Describe = ({ rule, numbers, alternatives }) => ({
  message: `must match at least one of ${asList(rule).length} alternatives, but matches none${alternatives}`,
  expected: outlines(rule, numbers.schema),
})

function describeRepeat({ data, numbers }: Fault): Words {
  const [first, second] = repeatIn(data as readonly unknown[], numbers.value) ?? []
  return {
    message: `must not repeat an item: items ${first} and ${second} are equal`,
    expected: 'distinct items',
  }
}

const DESCRIPTIONS: ReadonlyMap<string, Describe> = new Map<string, Describe>([
  ['type', describeType],
  ['required', describeRequired],
  ['dependencies', describeDependent],
  ['dependentRequired', describeDependent],
  ['additionalProperties', describeExtra('additionalProperty')],
  ['unevaluatedProperties', describeExtra('unevaluatedProperty')],
  ['enum', describeEnum],
  ['const', (fault) => must(ruleText(fault))],
  ['minimum', describeLimit],
  ['maximum', describeLimit],
  ['exclusiveMinimum', describeLimit],
  ['exclusiveMaximum', describeLimit],
  ['multipleOf', (fault) => must(`a multiple of ${ruleText(fault)}`)],
  ['minLength', describeChars],
  ['maxLength', describeChars],
  ['minItems', describeItems],
  ['maxItems', describeItems],
  ['minProperties', describeMembers],
  ['maxProperties', describeMembers],
  ['items', describeSurplus],
  ['additionalItems', describeSurplus],
  ['unevaluatedItems', describeSurplus],
  ['uniqueItems', describeRepeat],
  ['contains', describeContains],
  [
    'pattern',
    ({ rule }) => ({
      message: `must match the pattern ${quote(String(rule))}`,
      expected: `pattern ${String(rule)}`,
    }),
  ],
  [
    'format',
    ({ rule }) => ({
      message: `must have the format ${quote(String(rule))}`,
      expected: `format ${String(rule)}`,
    }),
  ],
  ['oneOf', describeOneOf],
  ['anyOf', describeAnyOf],
  [
    'not',
    ({ rule, numbers }) => ({
      message: 'must not match what "not" excludes',
      expected: excluded(rule, numbers),
    }),
  ],
  [
    'if',
    ({ params }) => ({
      message: `must match ${quote(String(params.failingKeyword))}, as its "if" applies`,
      expected: null,
    }),
  ],
  [
    'propertyNames',
    ({ params }) => ({
      message: `has a member whose name is not allowed: ${quote(String(params.propertyName))}`,
      expected: null,
    }),
  ],
  ['false schema', () => ({ message: 'is not allowed here: leave it out', expected: 'nothing' })],
])

function excluded(rule: unknown, numbers: Numbers): string | null {
  const what = outline(rule, numbers.schema)
  return what === undefined ? null : `not ${what}`
}

/** Data for a text, in addition to the error. */
interface Beside {
  /** Numbers as they were written. Absent when no number differs. */
  readonly numbers?: Numbers | undefined
  /** Errors of the alternatives, by the error of their union. */
  readonly folded?: ReadonlyMap<ErrorObject, Alternatives>
}

/** Text for one error of Ajv. The error must have schema and data, as the option `verbose` adds. */
export function wordsFor(error: ErrorObject, beside: Beside = {}): Words {
  const { numbers = NONE } = beside
  const { keyword, params, schema: rule, parentSchema, data, propertyName } = error
  const schema = isObject(parentSchema) ? parentSchema : {}
  const describe = DESCRIPTIONS.get(keyword)
  const alternatives = alternativesText(error, beside)
  const words = describe?.({ keyword, params, rule, schema, data, numbers, alternatives }) ?? {
    message: `must meet ${quote(keyword)}`,
    expected: null,
  }
  if (propertyName === undefined) return words
  return { ...words, message: `has the member name ${quote(propertyName)}, which ${words.message}` }
}

/** Errors of one alternative that are told. */
const ERRORS_TOLD = 2

function alternativesText(union: ErrorObject, beside: Beside): string {
  const alternatives = beside.folded?.get(union)?.filter((errors) => errors.length > 0) ?? []
  if (alternatives.length === 0) return ''
  const texts = new Set(alternatives.map((errors) => alternativeText(errors, union, beside)))
  return `: ${texts.size > 1 ? 'either ' : ''}${[...texts].join('; or ')}`
}

function alternativeText(
  errors: readonly ErrorObject[],
  union: ErrorObject,
  beside: Beside,
): string {
  const told = errors.slice(0, ERRORS_TOLD).map((error) => {
    const below = error.instancePath.slice(union.instancePath.length)
    const subject = below === '' ? 'it' : `its ${quote(below)}`
    return `${subject} ${wordsFor(error, beside).message}`
  })
  const hidden = errors.length - told.length
  return hidden > 0 ? `${told.join(', ')} and ${count(hidden, 'error')} more` : told.join(' and ')
}
