/**
 * Messages between the pool and a validation thread. They are plain data; bytes are transferred,
 * not copied.
 */
import { CoatcheckError, type ErrorCode, type ErrorFacts } from '../../core/errors.ts'
import type { ThreadLimits } from '../limits.ts'
import type { SchemaWarning, ValidateOptions, Validation } from '../validator.ts'

/** Data that a thread is started with. */
export interface ThreadData {
  readonly limits: ThreadLimits
  /** Memory of the thread's {@link Progress}. */
  readonly progress: SharedArrayBuffer
}

/**
 * A call. `bytes` holds the schema, then the value. Without a value the schema is only compiled.
 */
export interface ToThread {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly schemaBytes: number
  readonly hasValue: boolean
  readonly options: ValidateOptions
  /**
   * Processor time after which the call is left `unfinished`, in milliseconds. Undefined when only
   * the deadlines hold.
   */
  readonly quickMs: number | undefined
}

/** Answer to a call. `fault` is the stack of an unexpected error. */
export type Answer =
  | { readonly warnings: readonly SchemaWarning[] }
  | { readonly validation: Validation }
  | { readonly refusal: Refusal }
  | { readonly fault: string }

/** A {@link CoatcheckError} as plain data. */
export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly facts: ErrorFacts
}

/**
 * Processor time of a call in milliseconds: of the whole call, and without compiling the schema.
 */
export interface Used {
  readonly callMs: number
  readonly judgingMs: number
}

/** Outcome of a call in a thread. */
export type Outcome =
  | { readonly answer: Answer; readonly used: Used }
  | { readonly unfinished: true; readonly used: Used }

/** Message from a thread. `ready` is sent once, before any outcome. */
export type FromThread = { readonly ready: true } | Outcome

/**
 * Turns an error that a call threw into an answer: a refusal for a {@link CoatcheckError}, else a
 * fault.
 */
export function answerTo(error: unknown): Answer {
  if (error instanceof CoatcheckError) {
    const { code, message, facts } = error
    return { refusal: { code, message, facts } }
  }
  return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

/** Turns a refusal back into its error. */
export const refused = ({ code, message, facts }: Refusal): CoatcheckError =>
  new CoatcheckError(code, message, facts)
