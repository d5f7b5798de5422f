/**
 * Validation of values against callers' JSON Schemas. Every implementation promises:
 *
 * - The value is validated as it came. Nothing is coerced, defaulted, stripped or changed.
 * - The dialect is the root's `$schema`: draft-07 (draft-06 is read as draft-07), 2019-09 or
 *   2020-12. Without `$schema` it is 2020-12.
 * - Unknown keywords and formats have no effect and cause warnings. Nothing is fetched or printed.
 * - Numbers are compared as they were written, not as doubles.
 * - When the implementation has deadlines, no call exceeds them.
 * - Schemas are independent of each other: their `$id`s may repeat.
 * - The same schema and value give the same answer, in the same order.
 * - Arguments and answers are plain data, so an implementation may run in another thread.
 */
import type { JsonSlice } from '../core/json/slice.ts'

/**
 * One error, in words from which a model can repair its call. Every text is well-formed and
 * clipped.
 */
export interface ValidationError {
  /**
   * JSON Pointer into the value. For a member that is missing or not allowed, the pointer of its
   * object.
   */
  readonly path: string
  /**
   * Keyword that was violated. `false_schema` when the schema allows nothing; `unchecked` when the
   * check failed.
   */
  readonly code: string
  readonly message: string
  readonly expected: string | null
  /** Type that was received and a short sample. */
  readonly received: string
  /** Place in the schema: `#` and a JSON Pointer, after a URI when it is in another document. */
  readonly schema_path: string
}

/**
 * Warning about a part of a schema that has no effect in its dialect, or another effect than it
 * seems to.
 */
export interface SchemaWarning {
  readonly code: 'unknown_keyword' | 'unknown_format' | 'non_unicode_pattern'
  readonly message: string
  /** `#` and a JSON Pointer to the part. */
  readonly schema_path: string
}

/** Outcome of a validation. */
export interface Validation {
  readonly valid: boolean
  /**
   * Errors in the order they were found, bounded in number and in bytes (16,000 as JSON). When some
   * are left out, errors that differ are preferred to repetitions.
   */
  readonly errors: readonly ValidationError[]
  /** Number of all errors, those left out of `errors` included. */
  readonly errorsTotal: number
  /**
   * Errors at the paths that the caller set aside, the first of each path. They share the bounds of
   * `errors`, which come first.
   */
  readonly setAside: readonly ValidationError[]
  /** Number of all errors at those paths. `errorsTotal` does not count them. */
  readonly setAsideTotal: number
  /** Warnings about the schema, independent of the value: see {@link Validator.compile}. */
  readonly warnings: readonly SchemaWarning[]
}

/** Origin of a call. One caller's slow calls do not delay another's. */
export interface Caller {
  readonly tenant: string
  /** Id of the connection. */
  readonly connection: string
}

/** Options of {@link Validator.compile}. */
export interface CompileOptions {
  readonly caller?: Caller | undefined
}

/** Options of {@link Validator.validate}. */
export interface ValidateOptions extends CompileOptions {
  /**
   * JSON Pointers of values whose errors are listed apart. Those errors count towards `valid` like
   * all others.
   */
  readonly setAside?: readonly string[]
}

/** Validator of values by JSON Schemas. */
export interface Validator {
  /**
   * Checks that `schema` can be used, and resolves with the first warnings about it. Rejects with
   * `invalid_schema`, which tells what is wrong and where (fact `schema_path`). Rejects with
   * `over_limit`; the fact `limit` is `schema_bytes`, `compile_ms` or `validation_heap_bytes`.
   * Rejects with `overloaded` when too many calls wait.
   */
  compile(schema: JsonSlice, options?: CompileOptions): Promise<readonly SchemaWarning[]>

  /**
   * Validates `value`, and compiles the schema first if necessary. Rejects as `compile` does, and
   * with `over_limit` for the limits `validate_ms`, `validation_heap_bytes` and `counted_errors`.
   */
  validate(schema: JsonSlice, value: JsonSlice, options?: ValidateOptions): Promise<Validation>

  /** Frees all resources. No method may be called afterwards. */
  close(): Promise<void>
}
