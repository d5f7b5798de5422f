/**
 * A schema that is ready to judge. Values whose numbers doubles hold are judged by Ajv's own comparisons; where a number of
 * the value or of the schema was rounded, a second check, made when it is first needed, compares tokens.
 */
import type { JsonSlice } from '../core/json/slice.ts'
import { type Check, compileSchema, newAjv } from './engine.ts'
import type { Numbers } from './keywords.ts'
import { LARGE_BYTES } from './limits.ts'
import type { MetaSchemas } from './meta-schemas.ts'
import type { Judged } from './report.ts'
import {
  type Dialect,
  dialectOf,
  invalidSchema,
  isObject,
  makeDigestible,
  type SchemaObject,
} from './schema.ts'
import type { SchemaWarning } from './validator.ts'
import { warningsOf } from './warnings.ts'
import { weigh } from './weigh.ts'
import { NONE_ROUNDED, parseAsWritten, type WrittenNumbers } from './written-numbers.ts'

/** What is being done, for who watches the time. */
export type Phase = 'compile' | 'read' | 'validate'

export interface JudgeOptions {
  /** Whether a number of the value was rounded: see {@link weigh}. */
  readonly isRounded: boolean
  /** Told as a phase begins; where there is next to nothing to read, that is not told apart. */
  readonly onPhase: (phase: Phase) => void
}

export class CompiledSchema {
  readonly #schema: SchemaObject | boolean
  readonly #dialect: Dialect
  readonly #numbers: WrittenNumbers
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
    const ajv = newAjv(this.#dialect, { judges: 'values' })
    this.warnings = warningsOf(this.#schema, ajv)
    if (isRounded) this.#written = this.#compileWritten()
    else this.#plain = compileSchema(ajv, this.#schema)
  }

  /** Errors: `RangeError` where the stack runs out. */
  judge(value: JsonSlice, { isRounded, onPhase }: JudgeOptions): Judged {
    const schema = this.#schema
    const isLarge = value.end - value.start >= LARGE_BYTES
    if (!isRounded && this.#plain !== undefined) {
      const { value: parsed } = read(value, false)
      if (isLarge) onPhase('validate')
      return { errors: this.#plain(parsed), schema, value }
    }
    if (this.#written === undefined) {
      onPhase('compile')
      this.#written = this.#compileWritten()
      onPhase('read')
    }
    const { check, numbers } = this.#written
    const parsed = read(value, isRounded)
    if (isLarge) onPhase('validate')
    numbers.value = parsed.numbers
    try {
      return { errors: check(parsed.value), schema, value, numbers: { ...numbers } }
    } finally {
      numbers.value = NONE_ROUNDED
    }
  }

  #compileWritten(): { readonly check: Check; readonly numbers: Numbers } {
    const numbers = { schema: this.#numbers, value: NONE_ROUNDED }
    const ajv = newAjv(this.#dialect, { judges: 'values', numbers })
    return { check: compileSchema(ajv, this.#schema), numbers }
  }
}

function read(source: JsonSlice, isRounded: boolean) {
  if (isRounded) return parseAsWritten(source)
  return { value: JSON.parse(source.toString()) as unknown, numbers: NONE_ROUNDED }
}
