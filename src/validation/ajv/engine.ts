/**
 * Ajv as callers' schemas need it: no strict mode, nothing printed, fetched or changed. An instance serves one schema, so
 * that ids cannot meet and everything is freed with it.
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
// The code it is kept under only matters to schemas that are printed as programs.
const regExp = Object.assign((pattern: string) => regExpOf(pattern), { code: 'new RegExp' })

/**
 * Errors are added by functions of ours, which the code knows as members of `self`. Where a `$ref` failed, Ajv's own code
 * copies all the errors so far: a quadratic cost over many rows. And every error of millions of rows would be kept.
 */
function boundErrors(code: string): string {
  return code
    .replaceAll(
      /(=== null \? ([\w$.]+) : )vErrors\.concat\(\2\)/g,
      (_, start: string, errors: string) => `${start}self.joinErrors(vErrors, ${errors})`,
    )
    .replaceAll(/vErrors\.push\((\w+)\)/g, 'self.addError(vErrors, $1)')
}

/** Stands for an error that is only counted. */
const COUNTED = Object.freeze({ keyword: '', instancePath: '', schemaPath: '', params: {} })

/** The functions that the code of one Ajv instance adds errors by. */
function errorAdders(): object {
  /** The places in the schema that a long list has errors of. */
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

export interface Purpose {
  /** Callers' values; or their schemas as values of the meta-schema, which asks more of `$ref` and `pattern` than we do. */
  readonly judges: 'values' | 'schemas'
  /** Given where numbers may have been rounded. */
  readonly numbers?: Numbers
}

/** A fresh instance. */
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
    // Inlined, a large part that is referred to often would be compiled as often.
    inlineRefs: false,
    // Optimizing the code of a wide schema takes as long as all the rest.
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

/** All that is wrong with a value, in Ajv's words; none when it is valid. Whole are the first {@link ERRORS_KEPT} and the first of each place in the schema. */
export type Check = (value: unknown) => readonly ErrorObject[]

/** Compiles a schema that its meta-schema has passed. Errors: `invalid_schema`. */
export function compileSchema(ajv: Ajv, schema: SchemaObject | boolean): Check {
  const id = typeof schema === 'boolean' ? undefined : schema.$id
  // A caller may bring a meta-schema along; its own copy then takes the place of ours.
  if (typeof id === 'string') ajv.removeSchema(id.replace(/#$/, ''))
  try {
    const validate = ajv.compile(schema as AnySchema)
    checkReferences(validate)
    return checkOf(ajv, validate)
  } catch (cause) {
    throw compileError(cause, schema)
  }
}

/** Ajv leaves errors, and with them the value, on every function it compiled; they would stay as long as the schema. */
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

/** What Ajv threw as `invalid_schema`, with the place where that can be told. */
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
