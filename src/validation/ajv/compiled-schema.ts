/**
 * A schema that is ready to judge. Values whose numbers doubles hold are judged by Ajv's own comparisons; where a number of
 * the value or of the schema was rounded, a second check, made when it is first needed, compares tokens.
 */

import type { ErrorObject } from 'ajv'
import type { JsonSlice } from '../../core/json/slice.ts'
import { LARGE_BYTES } from '../limits.ts'
import type { Judged } from '../messages/report.ts'
import type { Numbers } from '../numbers/exact-keywords.ts'
import { weigh } from '../numbers/heap-estimate.ts'
import {
  NONE_ROUNDED,
  parseAsWritten,
  type WrittenNumbers,
  type WrittenValue,
} from '../numbers/written-numbers.ts'
import type { Guard, Phase } from '../pool/deadlines.ts'
import {
  type Dialect,
  dialectOf,
  invalidSchema,
  isObject,
  makeDigestible,
  placesOf,
  type SchemaObject,
} from '../tool-schema.ts'
import type { SchemaWarning } from '../validator.ts'
import { type Check, compileSchema, newAjv } from './engine.ts'
import type { MetaSchemas } from './meta-schemas.ts'
import { warningsOf } from './warnings.ts'

/** For who watches the time. */
export interface Watch {
  /** Told as a phase begins that may take long. */
  readonly onPhase: (phase: Phase) => void
  /** What checks that may stall are run in. */
  readonly guard: Guard
}

export interface JudgeOptions extends Watch {
  /** Whether a number of the value was rounded: see {@link weigh}. */
  readonly isRounded: boolean
}

export class CompiledSchema {
  readonly #schema: SchemaObject | boolean
  readonly #dialect: Dialect
  readonly #numbers: WrittenNumbers
  readonly #mayStall: boolean
  readonly warnings: readonly SchemaWarning[]
  /** Absent where numbers of the schema itself were rounded. */
  readonly #plain: Check | undefined
  #written: { readonly check: Check; readonly numbers: Numbers } | undefined

  /** Errors: `invalid_schema`. */
  constructor(source: JsonSlice, metaSchemas: MetaSchemas) {
    const isRounded = weigh(source).isRounded
    const { value, numbers } = read(source, isRounded)
    this.#numbers = numbers
    if (typeof value === 'boolean') {
      this.#schema = value
      this.#dialect = '2020-12'
    } else if (isObject(value)) {
      this.#schema = value
      this.#dialect = dialectOf(value)
      metaSchemas.check(value, this.#dialect)
      makeDigestible(value)
    } else {
      throw invalidSchema(`must be an object or a boolean, not ${source.kind}.`, '')
    }
    this.#mayStall = mayStall(this.#schema)
    const ajv = newAjv(this.#dialect, { judges: 'values' })
    this.warnings = warningsOf(this.#schema, ajv)
    if (isRounded) this.#written = this.#compileWritten()
    else this.#plain = compileSchema(ajv, this.#schema)
  }

  /** Errors: `RangeError` where the stack runs out; what the guard throws. */
  judge(value: JsonSlice, options: JudgeOptions): Judged {
    const { isRounded, onPhase } = options
    const schema = this.#schema
    if (!isRounded && this.#plain !== undefined) {
      return { errors: this.#run(this.#plain, read(value, false), options), schema, value }
    }
    if (this.#written === undefined) {
      onPhase('compile')
      this.#written = this.#compileWritten()
      onPhase('read')
    }
    const { check, numbers } = this.#written
    const parsed = read(value, isRounded)
    numbers.value = parsed.numbers
    try {
      return { errors: this.#run(check, parsed, options), schema, value, numbers: { ...numbers } }
    } finally {
      numbers.value = NONE_ROUNDED
    }
  }

  #run(check: Check, { value, bytes }: Parsed, { onPhase, guard }: Watch): readonly ErrorObject[] {
    if (bytes >= LARGE_BYTES) onPhase('validate')
    return this.#mayStall ? guard(() => check(value), bytes) : check(value)
  }

  #compileWritten(): { readonly check: Check; readonly numbers: Numbers } {
    const numbers = { schema: this.#numbers, value: NONE_ROUNDED }
    const ajv = newAjv(this.#dialect, { judges: 'values', numbers })
    return { check: compileSchema(ajv, this.#schema), numbers }
  }
}

const STALLING = ['pattern', 'patternProperties', '$ref', '$dynamicRef', '$recursiveRef']

interface Parsed extends WrittenValue {
  readonly bytes: number
}

function read(source: JsonSlice, isRounded: boolean): Parsed {
  const bytes = source.end - source.start
  if (isRounded) return { ...parseAsWritten(source), bytes }
  return { value: JSON.parse(source.toString()), numbers: NONE_ROUNDED, bytes }
}

/** Whether a small value may take long: by a pattern that backtracks, or by references that lead in circles. */
function mayStall(schema: SchemaObject | boolean): boolean {
  if (typeof schema === 'boolean') return false
  return placesOf(schema).some((place) =>
    STALLING.some((keyword) => Object.hasOwn(place.schema, keyword)),
  )
}
