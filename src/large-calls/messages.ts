/** What the main thread and a thread of large calls tell each other. */
import type { MessagePort } from 'node:worker_threads'
import type { BodyLimits } from '../http/body/json-body.ts'
import type { LargeAnswer, LargeCall } from '../http/large-calls.ts'
import type { MetricEvent } from '../http/observability/metrics.ts'
import type { RunLimits } from '../runs/context.ts'

/** What a thread is started with. */
export interface ThreadData {
  /** Where the ledger and the validator answer. */
  readonly services: MessagePort
  readonly limits: RunLimits
  readonly bodyLimits: BodyLimits
}

/** One call at a time. `now`: the time, in milliseconds since the epoch. */
export type ToThread = Omit<LargeCall, 'body'> & {
  readonly body: Uint8Array | undefined
  readonly now: number
}

export type FromThread =
  | { readonly ready: true }
  | { readonly answer: Omit<LargeAnswer, 'body'> & { readonly body: Uint8Array } }
  | { readonly counted: MetricEvent }
  | { readonly logged: Logged }

/** A line for the log, and the error that it tells of. */
export interface Logged {
  readonly level: 'warn' | 'error'
  readonly facts: Readonly<Record<string, unknown>>
  readonly text: string
}
