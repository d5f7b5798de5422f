/**
 * What the thread that writes is told and answers. Plain data: it is cloned on the way, buffers arrive as byte arrays, and an
 * error loses its class, so that errors travel as what they say.
 */
import { CoatcheckError, type ErrorCode, type ErrorFacts } from '../../../core/errors.ts'
import type {
  Chunk,
  EndCounts,
  LedgerPolicy,
  Put,
  PutNames,
  Result,
  Run,
  RunPatch,
  RunRef,
  StreamedPut,
} from '../../ledger.ts'
import type { Notice } from '../../notice.ts'
import type { Touch } from './last-requests.ts'

/** What the thread is started with. */
export interface WriterData {
  readonly path: string
  readonly policy: LedgerPolicy
  /** See `room.ts`; absent: no reserve. */
  readonly reserveBytes?: number
}

export interface Append {
  readonly ref: RunRef
  readonly put: Put
  readonly now: number
}

/** Makes a result of an upload. */
export interface Finish {
  readonly upload: number
  readonly ref: RunRef
  readonly put: StreamedPut
  readonly now: number
}

export interface Appended {
  readonly result: Result
  readonly retried: boolean
}

export type AppendOutcome = Appended | { readonly refusal: unknown }

/** A transaction of puts that has been committed. */
export interface Commit {
  /** How many it kept, retries included. */
  readonly puts: number
  readonly seconds: number
}

export type WriteCall =
  | ({ readonly name: 'append' } & Append)
  | ({ readonly name: 'finish' } & Finish)
  | {
      readonly name: 'openUpload'
      readonly ref: RunRef
      readonly names: PutNames
      readonly now: number
    }
  | {
      readonly name: 'stage'
      readonly upload: number
      readonly chunks: readonly Chunk[]
      readonly now: number
    }
  /** Answered when nothing of it is left. */
  | { readonly name: 'abort'; readonly upload: number }
  | {
      readonly name: 'openRun'
      readonly ref: RunRef
      readonly patch: RunPatch
      readonly now: number
    }
  | {
      readonly name: 'endRun'
      readonly ref: RunRef
      readonly how: { readonly purge: boolean }
      readonly now: number
    }
  | { readonly name: 'sweep'; readonly now: number }
  | { readonly name: 'ping' }
  /** Writes the touches that came with it. */
  | { readonly name: 'flush' }
  /** The last call. */
  | { readonly name: 'close' }

/** What each call answers. */
export interface WriteAnswers {
  readonly append: Appended
  readonly finish: Appended
  /** Its key: that of its first chunk. */
  readonly openUpload: number
  readonly stage: undefined
  readonly abort: undefined
  readonly openRun: { readonly run: Run; readonly created: boolean }
  readonly endRun: EndCounts
  readonly sweep: boolean
  readonly ping: undefined
  readonly flush: undefined
  readonly close: undefined
}

export interface ToWriter {
  readonly id: number
  readonly call: WriteCall
  readonly touches: readonly Touch[]
}

export type Reply =
  | { readonly id: number; readonly answer: WriteAnswers[keyof WriteAnswers] }
  | { readonly id: number; readonly error: PlainError }

export interface Replies {
  readonly replies: readonly Reply[]
  readonly commits: readonly Commit[]
  /** Whether all touches received so far are written. */
  readonly touchesWritten: boolean
}

/** First `opened` or `refused`, then replies. Notices may come at any time. */
export type FromWriter =
  | { readonly opened: true }
  | { readonly refused: PlainError }
  | { readonly notice: Notice }
  | Replies

export interface PlainError {
  readonly code: ErrorCode
  readonly detail: string
  readonly facts: ErrorFacts
  readonly stack: string | undefined
}

/** An error for the way; one that is not of the domain as `internal_error`. */
export function toPlainError(error: unknown): PlainError {
  if (error instanceof CoatcheckError) {
    const { code, message: detail, facts, stack } = error
    return { code, detail, facts, stack }
  }
  const [detail, stack] = error instanceof Error ? [error.message, error.stack] : [String(error)]
  return { code: 'internal_error', detail, facts: {}, stack }
}

/** The error again, with the one of the other thread, as it can be shown in a log, for its cause. */
export function fromPlainError({ code, detail, facts, stack }: PlainError): CoatcheckError {
  const cause = new Error(detail)
  if (stack !== undefined) cause.stack = stack
  return new CoatcheckError(code, detail, facts, { cause })
}
