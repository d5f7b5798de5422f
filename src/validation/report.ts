/**
 * Ajv's errors as an answer of bounded size: the first ones in full words, all of them counted.
 */
import type { ErrorObject } from 'ajv'
import { findPath, pointerSegments } from '../core/json/path.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import {
  ERROR_EXPECTED_BYTES,
  ERROR_MESSAGE_BYTES,
  ERROR_PATH_BYTES,
  ERROR_RECEIVED_BYTES,
  ERRORS_BYTES,
} from './limits.ts'
import { clip, receivedText } from './sample.ts'
import { placesOf, type SchemaObject } from './schema.ts'
import type { Validation, ValidationError } from './validator.ts'
import { wordsFor } from './words.ts'

export interface Judged {
  readonly errors: readonly ErrorObject[]
  readonly schema: SchemaObject | boolean
  readonly value: JsonSlice
}

/** Ajv ends the path of a schema `false` with the name of no keyword. */
const FALSE_SCHEMA = /\/false schema$/

export const VALID: Validation = { valid: true, errors: [], errorsTotal: 0 }

/** At most `errorsShown` of the errors, and no more than fit in {@link ERRORS_BYTES} as JSON. */
export function reportOf({ errors, schema, value }: Judged, errorsShown: number): Validation {
  const pointers = pointersOf(schema)
  const shown: ValidationError[] = []
  let leftBytes = ERRORS_BYTES
  for (const error of errors.slice(0, errorsShown)) {
    const entry = errorOf(error, pointers, value)
    leftBytes -= Buffer.byteLength(JSON.stringify(entry)) + 1
    if (leftBytes < 0) break
    shown.push(entry)
  }
  return { valid: false, errors: shown, errorsTotal: errors.length }
}

/** The answer for a value that cannot be judged, since that needs more stack than there is. */
export function uncheckedReport(value: JsonSlice): Validation {
  const error: ValidationError = {
    path: '',
    code: 'unchecked',
    message:
      'could not be checked: it or the schema recurses too deep. Send it flatter, or mend a "$ref" that leads back to itself',
    expected: null,
    received: value.kind,
    schema_path: '#',
  }
  return { valid: false, errors: [error], errorsTotal: 1 }
}

function pointersOf(schema: SchemaObject | boolean): ReadonlyMap<unknown, string> {
  if (typeof schema === 'boolean') return new Map()
  return new Map(placesOf(schema).map((place) => [place.schema, place.pointer]))
}

function errorOf(
  error: ErrorObject,
  pointers: ReadonlyMap<unknown, string>,
  value: JsonSlice,
): ValidationError {
  const { message, expected } = wordsFor(error)
  return {
    path: clip(error.instancePath, ERROR_PATH_BYTES),
    code: error.keyword.replace(' ', '_'),
    message: clip(message, ERROR_MESSAGE_BYTES),
    expected: expected === null ? null : clip(expected, ERROR_EXPECTED_BYTES),
    received: clip(receivedText(error.data, tokenOf(error, value)), ERROR_RECEIVED_BYTES),
    schema_path: clip(schemaPathOf(error, pointers), ERROR_PATH_BYTES),
  }
}

/** Ajv tells places behind a `$ref` from where the reference leads; here they start at the root. */
function schemaPathOf(error: ErrorObject, pointers: ReadonlyMap<unknown, string>): string {
  const pointer = pointers.get(error.parentSchema)
  if (pointer === undefined) return error.schemaPath.replace(FALSE_SCHEMA, '')
  return `#${pointer}/${error.keyword}`
}

/** A number as it was written, where the parsed one may be another. */
function tokenOf({ data, instancePath }: ErrorObject, value: JsonSlice): string | undefined {
  if (typeof data !== 'number' || Math.abs(data) <= Number.MAX_SAFE_INTEGER) return undefined
  const result = findPath(value, {
    segments: pointerSegments(instancePath) ?? [],
    syntax: 'pointer',
  })
  return 'found' in result ? result.found.toString() : undefined
}
