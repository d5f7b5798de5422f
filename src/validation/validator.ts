/**
 * Checking values against callers' JSON Schemas. Whatever implements this promises:
 *
 * - The value is judged as it came: nothing is coerced, defaulted, stripped or changed.
 * - The dialect is the root's `$schema`: draft-07 (draft-06 is read as draft-07), 2019-09, 2020-12; without one, 2020-12.
 * - Unknown keywords and formats say nothing, and are warned about. Nothing is ever fetched or printed.
 * - Numbers are compared as they were written, not as doubles.
 * - Nothing takes longer than its deadline, where the implementation says so.
 * - Schemas do not see each other: their `$id`s may repeat.
 * - The same schema and value give the same answer, in the same order.
 * - What crosses is plain data, so that an implementation may live in another thread.
 */
import type { JsonSlice } from '../core/json/slice.ts'

/** One thing that is wrong, in words from which a model can repair its call. Every text is well-formed and clipped. */
export interface ValidationError {
  /** JSON Pointer into the value; of a member that is missing or not allowed, the object it concerns. */
  readonly path: string
  /** The keyword that was not met; `false_schema` where nothing is allowed, `unchecked` where the check gave up. */
  readonly code: string
  readonly message: string
  readonly expected: string | null
  /** The type that came and a short sample. */
  readonly received: string
  /** The place in the schema: `#` and a JSON Pointer, with a URI before it when it stands in another document. */
  readonly schema_path: string
}

/** Something in a schema that its dialect does not know, and that therefore says nothing, or not what it seems to. */
export interface SchemaWarning {
  readonly code: 'unknown_keyword' | 'unknown_format' | 'non_unicode_pattern'
  readonly message: string
  /** `#` and a JSON Pointer to it. */
  readonly schema_path: string
}

export interface Validation {
  readonly valid: boolean
  /**
   * In the order found, bounded in number and in bytes (16,000 as JSON). Where that leaves some out, errors that differ go
   * before repetitions.
   */
  readonly errors: readonly ValidationError[]
  /** How many there are, those that `errors` leaves out included. */
  readonly errorsTotal: number
  /** Errors at the paths that were asked to be set aside, the first of each path; bounded with `errors`, which go first. */
  readonly setAside: readonly ValidationError[]
  /** How many there are at those paths; `errorsTotal` does not count them. */
  readonly setAsideTotal: number
  /** About the schema, whatever the value: see {@link Validator.compile}. */
  readonly warnings: readonly SchemaWarning[]
}

/** Who asks, so that one caller's slow calls do not delay another's. */
export interface Caller {
  readonly tenant: string
  /** The same for all calls of one connection. */
  readonly connection: string
}

export interface CompileOptions {
  readonly caller?: Caller | undefined
}

export interface ValidateOptions extends CompileOptions {
  /** JSON Pointers of values whose own errors are listed apart. They count towards `valid` as all others. */
  readonly setAside?: readonly string[]
}

export interface Validator {
  /**
   * Resolves, with the first warnings about it, when `schema` can be validated with. Rejects with `invalid_schema`, which
   * says what is wrong and where (fact `schema_path`); with `over_limit` (fact `limit` is `schema_bytes` or `compile_ms`);
   * with `overloaded` when too many calls wait.
   */
  compile(schema: JsonSlice, options?: CompileOptions): Promise<readonly SchemaWarning[]>

  /**
   * Judges `value`; compiles the schema first where that is still to be done, and rejects as `compile` does, or with the
   * limits `validate_ms` and `validation_heap_bytes`.
   */
  validate(schema: JsonSlice, value: JsonSlice, options?: ValidateOptions): Promise<Validation>

  /** Frees what is held. Nothing may be called after it. */
  close(): Promise<void>
}
