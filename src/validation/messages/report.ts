/**
 * Turns Ajv's errors into an answer of bounded size: the first ones in words, all of them counted.
 */
import type { ErrorObject } from 'ajv'
import { findPaths, pointerSegments } from '../../core/json/path.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import {
  ERROR_EXPECTED_BYTES,
  ERROR_MESSAGE_BYTES,
  ERROR_PATH_BYTES,
  ERROR_RECEIVED_BYTES,
  ERRORS_BYTES,
} from '../limits.ts'
import type { Numbers } from '../numbers/exact-keywords.ts'
import { clip, receivedText } from '../quote-data.ts'
import { placesOf, type SchemaObject } from '../tool-schema.ts'
import type { ValidationError } from '../validator.ts'
import { wordsFor } from './error-messages.ts'
import { firstOfEach, selectErrors } from './select-errors.ts'
import { type Alternatives, foldUnions } from './union-errors.ts'

/** Outcome of a check by Ajv, and its input. */
export interface Judged {
  readonly errors: readonly ErrorObject[]
  readonly schema: SchemaObject | boolean
  readonly value: JsonSlice
  /** Numbers as they were written. Present when some may have been rounded. */
  readonly numbers?: Numbers
}

/** Outcome of a validation, without the warnings about the schema. */
export interface Report {
  readonly valid: boolean
  readonly errors: readonly ValidationError[]
  readonly errorsTotal: number
  readonly setAside: readonly ValidationError[]
  readonly setAsideTotal: number
}

/** Options of {@link reportOf}. */
export interface ReportOptions {
  /** Most errors that are shown. */
  readonly errorsShown: number
  /** JSON Pointers of the values whose errors are listed apart. */
  readonly setAside: ReadonlySet<string>
}

/** Ending of Ajv's path for a schema `false`. It is not a keyword. */
const FALSE_SCHEMA = /\/false schema$/

const VALID: Report = {
  valid: true,
  errors: [],
  errorsTotal: 0,
  setAside: [],
  setAsideTotal: 0,
}

/**
 * Makes the report: at most `errorsShown` errors in each list, and at most {@link ERRORS_BYTES} as
 * JSON in both together.
 */
export function reportOf(judged: Judged, { errorsShown, setAside }: ReportOptions): Report {
  const { errors, schema, numbers } = judged
  if (errors.length === 0) return VALID
  const isApart = ({ instancePath, keyword }: ErrorObject): boolean =>
    keyword !== '' && setAside.has(instancePath)
  const { errors: apart, folded: foldedApart } = foldUnions(
    setAside.size === 0 ? [] : errors.filter(isApart),
    schema,
  )
  const rest = apart.length === 0 ? errors : errors.filter((error) => !isApart(error))
  const { errors: others, folded: foldedOthers } = foldUnions(rest, schema)
  const folded = new Map([...foldedApart, ...foldedOthers])
  const told = selectErrors(others, errorsShown)
  const toldApart = firstOfEach(apart, ({ instancePath }) => instancePath).slice(0, errorsShown)
  const tokens = tokensOf([...told, ...toldApart], judged)
  const pointers = pointersOf(schema)
  let leftBytes = ERRORS_BYTES
  const shown = (some: readonly ErrorObject[]): readonly ValidationError[] => {
    const entries: ValidationError[] = []
    for (const error of some) {
      const entry = errorOf(error, { pointers, token: tokens.get(error), numbers, folded })
      leftBytes -= Buffer.byteLength(JSON.stringify(entry)) + 1
      if (leftBytes < 0) break
      entries.push(entry)
    }
    return entries
  }
  return {
    valid: false,
    errors: shown(told),
    errorsTotal: others.length,
    setAside: shown(toldApart),
    setAsideTotal: apart.length,
  }
}

/** Report for a value that could not be checked because the stack ran out. */
export function uncheckedReport(value: JsonSlice): Report {
  const error: ValidationError = {
    path: '',
    code: 'unchecked',
    message:
      'could not be checked: the value or the schema nests too deep. Send a flatter value, or correct a "$ref" that leads back to itself',
    expected: null,
    received: value.kind,
    schema_path: '#',
  }
  return { ...VALID, valid: false, errors: [error], errorsTotal: 1 }
}

function pointersOf(schema: SchemaObject | boolean): ReadonlyMap<unknown, string> {
  if (typeof schema === 'boolean') return new Map()
  return new Map(placesOf(schema).map((place) => [place.schema, place.pointer]))
}

interface Telling {
  readonly pointers: ReadonlyMap<unknown, string>
  /** The received number as it was written. */
  readonly token: string | undefined
  readonly numbers: Numbers | undefined
  readonly folded: ReadonlyMap<ErrorObject, Alternatives>
}

function errorOf(error: ErrorObject, { pointers, token, ...beside }: Telling): ValidationError {
  const { message, expected } = wordsFor(error, beside)
  return {
    path: clip(error.instancePath, ERROR_PATH_BYTES),
    code: error.keyword.replace(' ', '_'),
    message: clip(message, ERROR_MESSAGE_BYTES),
    expected: expected === null ? null : clip(expected, ERROR_EXPECTED_BYTES),
    received: clip(receivedText(error.data, token), ERROR_RECEIVED_BYTES),
    schema_path: clip(schemaPathOf(error, pointers), ERROR_PATH_BYTES),
  }
}

/**
 * JSON Pointer from the root. Ajv's own paths behind a `$ref` start at the target of the reference.
 */
function schemaPathOf(error: ErrorObject, pointers: ReadonlyMap<unknown, string>): string {
  const pointer = pointers.get(error.parentSchema)
  if (pointer === undefined) return error.schemaPath.replace(FALSE_SCHEMA, '')
  return `#${pointer}/${error.keyword}`
}

/** The received numbers as they were written, by error. */
function tokensOf(
  errors: readonly ErrorObject[],
  { value }: Judged,
): ReadonlyMap<ErrorObject, string> {
  const ofNumbers = errors.filter(({ data }) => typeof data === 'number')
  const paths = ofNumbers.map(({ instancePath }) => ({
    segments: pointerSegments(instancePath) ?? [],
    syntax: 'pointer' as const,
  }))
  const results = paths.length === 0 ? [] : findPaths(value, paths)
  return new Map(
    results.flatMap((result, i) =>
      'found' in result ? [[ofNumbers[i] as ErrorObject, result.found.toString()] as const] : [],
    ),
  )
}
