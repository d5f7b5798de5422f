/**
 * Messages to and from the writer thread. They are plain data, cloned on the way: buffers arrive as
 * byte arrays, and an error loses its class. So errors are sent as {@link PlainError}.
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

/** Data that the thread is started with. */
export interface WriterData {
  readonly path: string
  readonly policy: LedgerPolicy
  /** Bytes of the reserve on disk, see `file/room.ts`. Absent for no reserve. */
  readonly reserveBytes?: number
}

/** A put of a whole value. */
export interface Append {
  readonly ref: RunRef
  readonly put: Put
  readonly now: number
}

/** A put that finishes an upload. `upload` is the key of the upload. */
export interface Finish {
  readonly upload: number
  readonly ref: RunRef
  readonly put: StreamedPut
  readonly now: number
}

/** Answer to a put. */
export interface Appended {
  readonly result: Result
  readonly retried: boolean
}

/** Outcome of one put in a transaction: its answer, or the error that it is refused with. */
export type AppendOutcome = Appended | { readonly refusal: unknown }

/** A committed transaction of puts. */
export interface Commit {
  /** Number of accepted puts, retries included. */
  readonly puts: number
  readonly seconds: number
}

/** Call to the writer. `upload` is the key of an upload; times are milliseconds since the epoch. */
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
  /** Answered when everything of the upload is erased, or after some seconds. */
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
  /** Writes all noted requests, also those that came with this call. */
  | { readonly name: 'flush' }
  /** The last call. */
  | { readonly name: 'close' }

/** Answer to each call. */
export interface WriteAnswers {
  readonly append: Appended
  readonly finish: Appended
  /** Key of the upload, which is the key of its first chunk. */
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

/** A call with the noted requests that were not sent before. */
export interface ToWriter {
  readonly id: number
  readonly call: WriteCall
  readonly touches: readonly Touch[]
}

/** Answer to the call `id`, or its error. */
export type Reply =
  | { readonly id: number; readonly answer: WriteAnswers[keyof WriteAnswers] }
  | { readonly id: number; readonly error: PlainError }

/** Replies of one turn of the writer, sent after its commits. */
export interface Replies {
  readonly replies: readonly Reply[]
  readonly commits: readonly Commit[]
  /** Whether all noted requests that the writer has received are written. */
  readonly touchesWritten: boolean
}

/**
 * Message of the writer. The first is `opened` or `refused`, unless it is a notice; replies follow.
 * Notices may come at any time.
 */
export type FromWriter =
  | { readonly opened: true }
  | { readonly refused: PlainError }
  | { readonly notice: Notice }
  | Replies

/** An error as plain data. */
export interface PlainError {
  readonly code: ErrorCode
  readonly detail: string
  readonly facts: ErrorFacts
  readonly stack: string | undefined
}

/**
 * Turns an error into plain data. One that is no {@link CoatcheckError} becomes `internal_error`.
 */
export function toPlainError(error: unknown): PlainError {
  if (error instanceof CoatcheckError) {
    const { code, message: detail, facts, stack } = error
    return { code, detail, facts, stack }
  }
  const [detail, stack] = error instanceof Error ? [error.message, error.stack] : [String(error)]
  return { code: 'internal_error', detail, facts: {}, stack }
}

/**
 * Turns plain data back into an error. Its cause has the message and the stack of the other thread,
 * for logs.
 */
export function fromPlainError({ code, detail, facts, stack }: PlainError): CoatcheckError {
  const cause = new Error(detail)
  if (stack !== undefined) cause.stack = stack
  return new CoatcheckError(code, detail, facts, { cause })
}
