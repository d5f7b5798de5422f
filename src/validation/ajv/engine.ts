/**
 * Ajv as callers' schemas need it: without strict mode, and nothing is printed, fetched or changed.
 * Each instance serves one schema, so ids cannot conflict and everything is freed with it.
 */
import { Ajv, type AnySchema, type ErrorObject, MissingRefError, type ValidateFunction } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { CoatcheckError } from '../../core/errors.ts'
import { pointerEscape } from '../../core/json/path.ts'
import { ERROR_MESSAGE_BYTES, ERRORS_COUNTED, ERRORS_KEPT } from '../limits.ts'
import { type Numbers, replaceKeywords } from '../numbers/exact-keywords.ts'
import { NONE_ROUNDED } from '../numbers/written-numbers.ts'
import { PatternError, regExpOf } from '../patterns.ts'
import { clip } from '../quote-data.ts'
import {
  type Dialect,
  invalidSchema,
  isObject,
  placesOf,
  type SchemaObject,
  type SchemaPlace,
  unresolved,
} from '../tool-schema.ts'
import { checkReferences, StrayRefError, uriResolver } from './references.ts'

const ENGINES = { 'draft-07': Ajv, '2019-09': Ajv2019, '2020-12': Ajv2020 } as const
// The member `code` only matters for schemas that are printed as programs.
const regExp = Object.assign((pattern: string) => regExpOf(pattern), { code: 'new RegExp' })

/**
 * Rewrites code that Ajv generates, so that it adds errors by our functions, which are members of
 * `self`. Ajv's own code copies all errors so far when a `$ref` fails, which is quadratic over many
 * rows. It would also keep every error of millions of rows.
 */
function boundErrors(code: string): string {
  return code
    .replaceAll(
      /(=== null \? ([\w$.]+) : )vErrors\.concat\(\2\)/g,
      (_, start: string, errors: string) => `${start}self.joinErrors(vErrors, ${errors})`,
    )
    .replaceAll(/vErrors\.push\((\w+)\)/g, 'self.addError(vErrors, $1)')
}

/** Placeholder for an error that is only counted. */
const COUNTED = Object.freeze({ keyword: '', instancePath: '', schemaPath: '', params: {} })

/** Makes the functions by which the code of one Ajv instance adds errors. */
function errorAdders(): object {
  /** Places in the schema with errors in a long list, by list. */
  const placesOfLists = new WeakMap<ErrorObject[], Set<string>>()
  const isNewPlace = (errors: ErrorObject[], { schemaPath }: ErrorObject): boolean => {
    const known = placesOfLists.get(errors) ?? new Set(errors.map((error) => error.schemaPath))
    placesOfLists.set(errors, known)
    return known.size < known.add(schemaPath).size
  }
  const addError = (errors: ErrorObject[], error: ErrorObject): void => {
    if (errors.length < ERRORS_KEPT || isNewPlace(errors, error)) errors.push(error)
    else errors.push(COUNTED)
    if (errors.length > ERRORS_COUNTED) throw tooManyErrors()
  }
  const joinErrors = (errors: ErrorObject[], others: readonly ErrorObject[]): ErrorObject[] => {
    for (const error of others) addError(errors, error)
    return errors
  }
  return { addError, joinErrors }
}

const tooManyErrors = (): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The schema finds more than ${ERRORS_COUNTED} errors in the arguments (counted_errors). Reference a smaller part of the value.`,
    { limit: 'counted_errors', value: ERRORS_COUNTED },
  )

/** Purpose of an Ajv instance. */
export interface Purpose {
  /**
   * `values` are callers' values. `schemas` are callers' schemas, checked by the meta-schema; its
   * formats for `$ref` and `pattern` are stricter than we are, so formats are off.
   */
  readonly judges: 'values' | 'schemas'
  /** Numbers as they were written. Given when numbers may have been rounded. */
  readonly numbers?: Numbers
}

/** Makes an Ajv instance for one schema. */
export function newAjv(dialect: Dialect, { judges, numbers }: Purpose): Ajv {
  const ajv = new ENGINES[dialect]({
    strict: false,
    allErrors: true,
    ownProperties: true,
    verbose: true,
    messages: false,
    logger: false,
    validateFormats: judges === 'values',
    validateSchema: false,
    uriResolver,
    // Inlining would compile a large part again for each reference to it.
    inlineRefs: false,
    // Optimizing the code of a wide schema takes as long as everything else.
    code: { regExp, optimize: false, process: boundErrors },
  })
  Object.assign(ajv, errorAdders())
  formats.default(ajv)
  replaceKeywords(
    ajv,
    numbers ?? { schema: NONE_ROUNDED, value: NONE_ROUNDED },
    numbers !== undefined,
  )
  return ajv
}

/**
 * Returns all errors of a value as Ajv reports them; none when it is valid. The first
 * {@link ERRORS_KEPT}, and the first of each place in the schema, are whole. Others are
 * placeholders.
 */
export type Check = (value: unknown) => readonly ErrorObject[]

/** Compiles a schema that its meta-schema accepts. Throws `invalid_schema`. */
export function compileSchema(ajv: Ajv, schema: SchemaObject | boolean): Check {
  const id = typeof schema === 'boolean' ? undefined : schema.$id
  // A caller's schema may be a meta-schema. It then replaces the built-in one.
  if (typeof id === 'string') ajv.removeSchema(id.replace(/#$/, ''))
  try {
    const validate = ajv.compile(schema as AnySchema)
    checkReferences(validate)
    return checkOf(ajv, validate)
  } catch (cause) {
    throw compileError(cause, schema)
  }
}

/**
 * Wraps a compiled function and clears its errors after each call. Ajv keeps the errors, and with
 * them the value, on every function it compiled, as long as the schema.
 */
function checkOf(ajv: Ajv, validate: ValidateFunction): Check {
  const { validate: inner = [], wrapper = [] } = ajv.scope.get()
  return (value) => {
    try {
      return validate(value) ? [] : (validate.errors ?? [])
    } finally {
      validate.errors = null
      for (const each of inner) (each as ValidateFunction).errors = null
      for (const each of wrapper) (each as { validate: ValidateFunction }).validate.errors = null
    }
  }
}

/** Turns an error of Ajv into an `invalid_schema`, with its place if that is known. */
export function compileError(cause: unknown, schema: SchemaObject | boolean): CoatcheckError {
  const places = typeof schema === 'boolean' ? [] : placesOf(schema)
  if (cause instanceof MissingRefError || cause instanceof StrayRefError) {
    const missingRef = cause instanceof StrayRefError ? cause.ref : cause.missingRef
    const place = places.find((each) => {
      const ref = each.schema.$ref ?? each.schema.$dynamicRef ?? each.schema.$recursiveRef
      return typeof ref === 'string' && ref !== '' && missingRef.endsWith(ref)
    })
    return unresolved(missingRef, place && `${place.pointer}/$ref`)
  }
  if (cause instanceof PatternError) {
    const reason = clip(cause.message, ERROR_MESSAGE_BYTES)
    const pointer = places.map((place) => patternPointer(place, cause.pattern)).find(isString)
    return invalidSchema(`has a pattern that is no regular expression: ${reason}.`, pointer)
  }
  if (cause instanceof RangeError) {
    return invalidSchema(
      'nests too deep to be compiled, or a "$ref" of it leads back to itself. Flatten it, or move its parts under "$defs".',
    )
  }
  const reason = cause instanceof Error ? cause.message : String(cause)
  return invalidSchema(`does not compile: ${clip(reason, ERROR_MESSAGE_BYTES)}.`)
}

const isString = (value: unknown): value is string => typeof value === 'string'

function patternPointer({ schema, pointer }: SchemaPlace, pattern: string): string | undefined {
  if (schema.pattern === pattern) return `${pointer}/pattern`
  const patterns = schema.patternProperties
  const hasIt = isObject(patterns) && Object.hasOwn(patterns, pattern)
  return hasIt ? `${pointer}/patternProperties/${pointerEscape(pattern)}` : undefined
}
