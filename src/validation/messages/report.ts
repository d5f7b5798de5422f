/**
 * Ajv's errors as an answer of bounded size: the first ones in full words, all of them counted.
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

export interface Judged {
  readonly errors: readonly ErrorObject[]
  readonly schema: SchemaObject | boolean
  readonly value: JsonSlice
  /** Where numbers may have been rounded. */
  readonly numbers?: Numbers
}

/** What is told of a judgment; the warnings are about the schema. */
export interface Report {
  readonly valid: boolean
  readonly errors: readonly ValidationError[]
  readonly errorsTotal: number
  readonly setAside: readonly ValidationError[]
  readonly setAsideTotal: number
}

export interface ReportOptions {
  /** Most errors that are shown. */
  readonly errorsShown: number
  /** JSON Pointers of the values whose own errors are listed apart. */
  readonly setAside: ReadonlySet<string>
}

/** Ajv ends the path of a schema `false` with the name of no keyword. */
const FALSE_SCHEMA = /\/false schema$/

const VALID: Report = {
  valid: true,
  errors: [],
  errorsTotal: 0,
  setAside: [],
  setAsideTotal: 0,
}

/** At most `errorsShown` of the errors, and no more than fit in {@link ERRORS_BYTES} as JSON. */
export function reportOf(judged: Judged, { errorsShown, setAside }: ReportOptions): Report {
  const { errors, schema, numbers } = judged
  if (errors.length === 0) return VALID
  const isApart = ({ instancePath, keyword }: ErrorObject): boolean =>
    keyword !== '' && setAside.has(instancePath)
  const apart = setAside.size === 0 ? [] : errors.filter(isApart)
  const others = apart.length === 0 ? errors : errors.filter((error) => !isApart(error))
  const told = selectErrors(others, errorsShown)
  const toldApart = firstOfEach(apart, ({ instancePath }) => instancePath).slice(0, errorsShown)
  const tokens = tokensOf([...told, ...toldApart], judged)
  const pointers = pointersOf(schema)
  let leftBytes = ERRORS_BYTES
  const shown = (some: readonly ErrorObject[]): readonly ValidationError[] => {
    const entries: ValidationError[] = []
    for (const error of some) {
      const entry = errorOf(error, { pointers, token: tokens.get(error), numbers })
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

/** The answer for a value that cannot be judged, since that needs more stack than there is. */
export function uncheckedReport(value: JsonSlice): Report {
  const error: ValidationError = {
    path: '',
    code: 'unchecked',
    message:
      'could not be checked: it or the schema recurses too deep. Send it flatter, or mend a "$ref" that leads back to itself',
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
  /** The number that was received, as it was written. */
  readonly token: string | undefined
  readonly numbers: Numbers | undefined
}

function errorOf(error: ErrorObject, { pointers, token, numbers }: Telling): ValidationError {
  const { message, expected } = wordsFor(error, numbers)
  return {
    path: clip(error.instancePath, ERROR_PATH_BYTES),
    code: error.keyword.replace(' ', '_'),
    message: clip(message, ERROR_MESSAGE_BYTES),
    expected: expected === null ? null : clip(expected, ERROR_EXPECTED_BYTES),
    received: clip(receivedText(error.data, token), ERROR_RECEIVED_BYTES),
    schema_path: clip(schemaPathOf(error, pointers), ERROR_PATH_BYTES),
  }
}

/** Ajv tells places behind a `$ref` from where the reference leads; here they start at the root. */
function schemaPathOf(error: ErrorObject, pointers: ReadonlyMap<unknown, string>): string {
  const pointer = pointers.get(error.parentSchema)
  if (pointer === undefined) return error.schemaPath.replace(FALSE_SCHEMA, '')
  return `#${pointer}/${error.keyword}`
}

/** Numbers as they were written. */
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
