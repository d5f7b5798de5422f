/**
 * A compiled schema. Ajv's own comparisons serve values whose numbers fit in doubles. When a number
 * of the value or of the schema was rounded, a second check compares the numbers as written. It is
 * compiled when it is first needed.
 */

import type { ErrorObject } from 'ajv'
import type { JsonSlice } from '../../core/json/slice.ts'
import { QUICK_WORK, SPELLED_NUMBERS } from '../limits.ts'
import type { Judged } from '../messages/report.ts'
import type { Numbers } from '../numbers/exact-keywords.ts'
import { weigh } from '../numbers/heap-estimate.ts'
import {
  NONE_ROUNDED,
  parseAsWritten,
  type WrittenNumbers,
  type WrittenValue,
} from '../numbers/written-numbers.ts'
import type { JudgingPhase, Phase } from '../pool/deadlines.ts'
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

/**
 * Runs work of a phase that may not end by itself, for a value of `valueBytes`. It may stop the
 * work and start it again from the beginning. Throws the error of the work, or its own error for
 * stopped work.
 */
export type Guard = <Result>(phase: Phase, valueBytes: number, work: () => Result) => Result

/** Observes and limits the time of a call. */
export interface Watch {
  /** Called at the start of a phase. */
  readonly onPhase: (phase: Phase) => void
  /** Runs compilations, and checks that may be slow. */
  readonly guard: Guard
}

/** Options of {@link CompiledSchema.judge}. */
export interface JudgeOptions extends Watch {
  /** True when a number of the value was rounded: see {@link weigh}. */
  readonly isRounded: boolean
}

/** A schema that was checked and compiled. */
export class CompiledSchema {
  readonly #schema: SchemaObject | boolean
  readonly #dialect: Dialect
  readonly #numbers: WrittenNumbers
  /** Numbers of the schema as messages quote them. */
  readonly #spellings: WrittenNumbers
  readonly #phase: JudgingPhase
  readonly #bytes: number
  readonly warnings: readonly SchemaWarning[]
  /** Check with doubles. Absent when numbers of the schema itself were rounded. */
  readonly #plain: Check | undefined
  #written: { readonly check: Check; readonly numbers: Numbers } | undefined

  /** Checks and compiles a schema. Throws `invalid_schema`. */
  constructor(source: JsonSlice, metaSchemas: MetaSchemas) {
    const isRounded = weigh(source).isRounded
    const { value, numbers, spellings } = parseAsWritten(source, SPELLED_NUMBERS)
    this.#numbers = numbers
    this.#spellings = spellings
    this.#bytes = source.end - source.start
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
    this.#phase = judgingPhase(this.#schema)
    const ajv = newAjv(this.#dialect, { judges: 'values' })
    this.warnings = warningsOf(this.#schema, ajv)
    if (isRounded) this.#written = this.#compileWritten()
    else this.#plain = compileSchema(ajv, this.#schema)
  }

  /**
   * Validates a value. Throws `RangeError` when the stack runs out, and the errors of the guard.
   */
  judge(value: JsonSlice, options: JudgeOptions): Judged {
    const { isRounded, onPhase, guard } = options
    const schema = this.#schema
    if (!isRounded && this.#plain !== undefined) {
      const errors = this.#run(this.#plain, read(value, false), options)
      return { errors, schema, value, numbers: this.#quoted(NONE_ROUNDED) }
    }
    if (this.#written === undefined) {
      this.#written = guard('compile', 0, () => this.#compileWritten())
      onPhase('read')
    }
    const { check, numbers } = this.#written
    const parsed = read(value, isRounded)
    numbers.value = parsed.numbers
    try {
      const errors = this.#run(check, parsed, options)
      return { errors, schema, value, numbers: this.#quoted(parsed.numbers) }
    } finally {
      numbers.value = NONE_ROUNDED
    }
  }

  /** Numbers of the schema and a value as messages quote them. */
  #quoted(value: WrittenNumbers): Numbers {
    return { schema: this.#spellings, value }
  }

  #run(check: Check, { value, bytes }: Parsed, { onPhase, guard }: Watch): readonly ErrorObject[] {
    const isSurelyQuick = this.#phase === 'validate' && bytes * this.#bytes <= QUICK_WORK
    if (!isSurelyQuick) return guard(this.#phase, bytes, () => check(value))
    onPhase(this.#phase)
    return check(value)
  }

  #compileWritten(): { readonly check: Check; readonly numbers: Numbers } {
    const numbers = { schema: this.#numbers, value: NONE_ROUNDED }
    const ajv = newAjv(this.#dialect, { judges: 'values', numbers })
    return { check: compileSchema(ajv, this.#schema), numbers }
  }
}

const PATTERNS = ['pattern', 'patternProperties']
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef']

interface Parsed extends WrittenValue {
  readonly bytes: number
}

function read(source: JsonSlice, isRounded: boolean): Parsed {
  const bytes = source.end - source.start
  if (isRounded) return { ...parseAsWritten(source), bytes }
  const value: unknown = JSON.parse(source.toString())
  return { value, numbers: NONE_ROUNDED, spellings: NONE_ROUNDED, bytes }
}

/**
 * The judging phase, by the keywords that can make even a small value slow: patterns that
 * backtrack, or references that lead in circles.
 */
function judgingPhase(schema: SchemaObject | boolean): JudgingPhase {
  if (typeof schema === 'boolean') return 'validate'
  const places = placesOf(schema)
  const hasAny = (keywords: readonly string[]): boolean =>
    places.some((place) => keywords.some((keyword) => Object.hasOwn(place.schema, keyword)))
  if (hasAny(PATTERNS)) return 'validate_patterns'
  return hasAny(REFERENCES) ? 'validate_references' : 'validate'
}
