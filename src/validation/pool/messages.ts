/** What passes between who asks and the thread that validates: plain data, bytes without a copy. */
import { CoatcheckError, type ErrorCode, type ErrorFacts } from '../../core/errors.ts'
import type { ThreadLimits } from '../limits.ts'
import type { SchemaWarning, ValidateOptions, Validation } from '../validator.ts'

export interface ThreadData {
  readonly limits: ThreadLimits
  /** See `progress.ts`. */
  readonly progress: SharedArrayBuffer
}

/** `bytes` holds the schema, then the value; without a value the schema is only compiled. */
export interface ToThread {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly schemaBytes: number
  readonly hasValue: boolean
  readonly options: ValidateOptions
  /** Processor time after which the call is left `unfinished`; absent: the deadlines hold. */
  readonly quickMs: number | undefined
}

export type Answer =
  | { readonly warnings: readonly SchemaWarning[] }
  | { readonly validation: Validation }
  | { readonly refusal: Refusal }
  | { readonly fault: string }

export interface Refusal {
  readonly code: ErrorCode
  readonly message: string
  readonly facts: ErrorFacts
}

/** Processor time in milliseconds: of all of the call, and of what its schema will cost again. */
export interface Used {
  readonly callMs: number
  readonly judgingMs: number
}

export type Outcome =
  | { readonly answer: Answer; readonly used: Used }
  | { readonly unfinished: true; readonly used: Used }

/** `ready` once, before any outcome. */
export type FromThread = { readonly ready: true } | Outcome

/** What a call threw: an error of the domain to be thrown again, or a bug of ours. */
export function answerTo(error: unknown): Answer {
  if (error instanceof CoatcheckError) {
    const { code, message, facts } = error
    return { refusal: { code, message, facts } }
  }
  return { fault: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}

export const refused = ({ code, message, facts }: Refusal): CoatcheckError =>
  new CoatcheckError(code, message, facts)
