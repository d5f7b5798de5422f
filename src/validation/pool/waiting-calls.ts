/**
 * Queue of the calls that wait for a thread. The next call belongs to the tenant that used the
 * least processor time lately. Among its calls, the one with the longest wait relative to its
 * expected cost is next. So short calls go first, and long ones still get their turn. When the
 * queue is full, the longest call of the tenant with the most calls is refused.
 */
import { CoatcheckError } from '../../core/errors.ts'
import { QUEUE_BYTES, QUEUE_CALLS, QUICK_MS } from '../limits.ts'

/** A call in the queue. */
export interface Waiting {
  readonly tenant: string
  readonly connection: string
  readonly bytes: number
  readonly sinceMs: number
  /** Expected processor time, in milliseconds. */
  expectedMs: number
  /** Rejects the call, when it is removed from a full queue. */
  readonly refuse: (error: unknown) => void
}

/**
 * Whether a call is expected to take more than {@link QUICK_MS}. It may then occupy a thread until
 * its deadline.
 */
export const isLong = ({ expectedMs }: Pick<Waiting, 'expectedMs'>): boolean =>
  expectedMs > QUICK_MS

/** Bounded queue of calls. */
export class WaitingCalls<Call extends Waiting> {
  /**
   * Calls with their weights. A weight is the expected cost of a call and of the calls of its
   * connection that waited when it came.
   */
  readonly #calls = new Map<Call, number>()
  #bytes = 0

  get size(): number {
    return this.#calls.size
  }

  /**
   * Adds a call. When the queue is then too full, refuses this call or another with `overloaded`.
   */
  add(call: Call): void {
    this.#insert(call)
    for (let full = this.#full(); full !== undefined; full = this.#full()) {
      const victim = this.#victim()
      this.remove(victim)
      victim.refuse(full)
    }
  }

  remove(call: Call): void {
    if (this.#calls.delete(call)) this.#bytes -= call.bytes
  }

  /**
   * Removes and returns the next call; a long one only if `allowLong`. `used` tells the processor
   * time that a tenant used lately.
   */
  take(
    nowMs: number,
    { allowLong, used }: { allowLong: boolean; used: (tenant: string) => number },
  ): Call | undefined {
    const ready = [...this.#calls].filter(([call]) => allowLong || !isLong(call))
    if (ready.length === 0) return undefined
    const rank = ([call, weight]: readonly [Call, number]) => ({
      call,
      used: used(call.tenant),
      urgency: (nowMs - call.sinceMs) / weight,
    })
    const next = ready.map(rank).reduce((best, each) => (isBefore(each, best) ? each : best)).call
    this.remove(next)
    return next
  }

  get oldest(): Call | undefined {
    return this.#calls.keys().next().value
  }

  /** Removes and returns all calls. */
  clear(): readonly Call[] {
    const calls = [...this.#calls.keys()]
    this.#calls.clear()
    this.#bytes = 0
    return calls
  }

  #insert(call: Call): void {
    let weight = call.expectedMs
    for (const { tenant, connection, expectedMs } of this.#calls.keys()) {
      if (connection === call.connection && tenant === call.tenant) weight += expectedMs
    }
    this.#calls.set(call, weight)
    this.#bytes += call.bytes
  }

  #full(): CoatcheckError | undefined {
    if (this.size > QUEUE_CALLS) {
      return overloaded(`${QUEUE_CALLS} calls wait`, 'validation_calls', QUEUE_CALLS)
    }
    if (this.size > 1 && this.#bytes > QUEUE_BYTES) {
      return overloaded(`Calls of ${QUEUE_BYTES} bytes wait`, 'validation_bytes', QUEUE_BYTES)
    }
    return undefined
  }

  /** The call to refuse; the newest of equals. The queue is not empty here. */
  #victim(): Call {
    const byTenant = Map.groupBy(this.#calls, ([{ tenant }]) => tenant)
    const most = [...byTenant.values()].reduce((a, b) => (b.length > a.length ? b : a))
    return most.reduce((a, b) => (b[1] >= a[1] ? b : a))[0]
  }
}

interface Rank {
  readonly used: number
  /** Time that the call has waited, divided by its weight. */
  readonly urgency: number
}

/**
 * Whether `a` goes before `b`. The tenant with less use goes first, then the call with higher
 * urgency. Equal calls keep their order.
 */
const isBefore = (a: Rank, b: Rank): boolean =>
  a.used === b.used ? a.urgency > b.urgency : a.used < b.used

function overloaded(what: string, limit: string, value: number): CoatcheckError {
  const detail = `${what} to be validated, which is the limit. Send it again in a moment.`
  return new CoatcheckError('overloaded', detail, { limit, value })
}
