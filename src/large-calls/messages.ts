/** Messages between the main thread and a thread of large calls. */
import type { MessagePort } from 'node:worker_threads'
import type { BodyLimits } from '../http/body/json-body.ts'
import type { LargeAnswer, LargeCall } from '../http/large-calls.ts'
import type { MetricEvent } from '../http/observability/metrics.ts'
import type { RunLimits } from '../runs/context.ts'

/** Data that a thread is started with. */
export interface ThreadData {
  /** Port through which the main thread answers for the ledger and the validator. */
  readonly services: MessagePort
  readonly limits: RunLimits
  readonly bodyLimits: BodyLimits
}

/** A call; a thread takes one at a time. `now` is the time in milliseconds since the epoch. */
export type ToThread = Omit<LargeCall, 'body'> & {
  readonly body: Uint8Array | undefined
  readonly now: number
}

/** Message from a thread. `ready` is sent once, before any other. */
export type FromThread =
  | { readonly ready: true }
  | { readonly answer: Omit<LargeAnswer, 'body'> & { readonly body: Uint8Array } }
  | { readonly counted: MetricEvent }
  | { readonly logged: Logged }

/** A line for the service's log. */
export interface Logged {
  readonly level: 'warn' | 'error'
  readonly facts: Readonly<Record<string, unknown>>
  readonly text: string
}
