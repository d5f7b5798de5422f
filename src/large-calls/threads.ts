/**
 * Pool of the threads of large calls. Threads start when they are needed. Tenants take turns for
 * the calls that wait, so that no tenant blocks another.
 */
import { CoatcheckError } from '../core/errors.ts'
import type { BodyLimits } from '../http/body/json-body.ts'
import type { LargeAnswer, LargeCall, LargeCalls } from '../http/large-calls.ts'
import type { MetricEvent } from '../http/observability/metrics.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { RunLimits } from '../runs/context.ts'
import type { Validator } from '../validation/validator.ts'
import type { Logged } from './messages.ts'
import { LargeCallThread } from './thread.ts'

/** Most calls that may wait. Their bodies count as held bytes. */
const WAITING_CALLS = 256
/** Most calls of one tenant that may wait. */
const WAITING_CALLS_PER_TENANT = 64

/** Options of {@link LargeCallThreads}. */
export interface LargeCallOptions {
  readonly ledger: Ledger
  readonly validator: Validator
  readonly limits: RunLimits
  readonly bodyLimits: BodyLimits
  readonly now: () => number
  readonly threads: number
  /** Processor time that one call may take, in seconds. */
  readonly cpuSeconds: number
  /** Heap of each thread, in bytes. */
  readonly heapBytes: number
  readonly count: (event: MetricEvent) => void
  readonly log: (line: Logged) => void
}

interface Waiting {
  readonly call: LargeCall
  readonly isWanted: () => boolean
  readonly answered: PromiseWithResolvers<LargeAnswer>
}

/** Answers large calls in threads. */
export class LargeCallThreads implements LargeCalls {
  readonly #options: LargeCallOptions
  readonly #threads = new Set<LargeCallThread>()
  readonly #idle: LargeCallThread[] = []
  /** Waiting calls by tenant. The tenant whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>()
  #waitingCount = 0

  constructor(options: LargeCallOptions) {
    this.#options = options
  }

  run(call: LargeCall, isWanted: () => boolean): Promise<LargeAnswer> {
    const own = this.#waiting.get(call.tenant) ?? []
    if (this.#waitingCount >= WAITING_CALLS) throw overloaded(WAITING_CALLS)
    if (own.length >= WAITING_CALLS_PER_TENANT) throw overloaded(WAITING_CALLS_PER_TENANT)
    const waiting = { call, isWanted, answered: Promise.withResolvers<LargeAnswer>() }
    own.push(waiting)
    this.#waiting.set(call.tenant, own)
    this.#waitingCount++
    this.#startNext()
    return waiting.answered.promise
  }

  /** Ends the threads. Calls that wait are rejected with `overloaded`. */
  async close(): Promise<void> {
    for (const waiting of [...this.#waiting.values()].flat()) {
      waiting.answered.reject(new CoatcheckError('overloaded', 'The service is shutting down.'))
    }
    this.#waiting.clear()
    await Promise.all([...this.#threads].map((thread) => thread.end()))
  }

  #startNext(): void {
    while (this.#waitingCount > 0) {
      const thread = this.#free()
      if (thread === undefined) return
      const next = this.#takeNext()
      if (next === undefined) return void this.#idle.push(thread)
      void this.#run(thread, next)
    }
  }

  async #run(thread: LargeCallThread, { call, answered }: Waiting): Promise<void> {
    try {
      answered.resolve(await thread.run(call))
    } catch (error) {
      answered.reject(error)
    } finally {
      if (thread.hasEnded) this.#threads.delete(thread)
      else this.#idle.push(thread)
      this.#startNext()
    }
  }

  #free(): LargeCallThread | undefined {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (!idle.hasEnded) return idle
      this.#threads.delete(idle)
    }
    if (this.#threads.size >= this.#options.threads) return undefined
    const thread = new LargeCallThread(this.#options)
    this.#threads.add(thread)
    return thread
  }

  /** Takes the next call whose client still waits. */
  #takeNext(): Waiting | undefined {
    for (const [tenant, calls] of this.#waiting) {
      this.#waiting.delete(tenant)
      const next = calls.shift() as Waiting
      this.#waitingCount--
      // The tenant goes behind the others.
      if (calls.length > 0) this.#waiting.set(tenant, calls)
      if (next.isWanted()) return next
      next.answered.reject(
        new CoatcheckError('invalid_request', 'The client closed the connection.'),
      )
    }
    return undefined
  }
}

const overloaded = (value: number): CoatcheckError =>
  new CoatcheckError(
    'overloaded',
    `${value} large calls wait, which is the limit. Send it again in a moment.`,
    { limit: 'large_calls', value },
  )
