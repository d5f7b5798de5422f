/**
 * The calls that wait for a thread. The next one is of the tenant that has used least lately, and of its calls the one whose
 * wait is longest for its expected cost: short calls go first, long ones in the end. Where there is no room, the longest call
 * of the tenant with the most calls has to go.
 */
import { CoatcheckError } from '../../core/errors.ts'
import { QUEUE_BYTES, QUEUE_CALLS, QUICK_MS } from '../limits.ts'

export interface Waiting {
  readonly tenant: string
  readonly connection: string
  readonly bytes: number
  readonly sinceMs: number
  /** In milliseconds of processor time. */
  expectedMs: number
  /** Rejected when the call has to give way. */
  readonly refuse: (error: unknown) => void
}

/** A long call may keep a thread for a whole deadline. */
export const isLong = ({ expectedMs }: Pick<Waiting, 'expectedMs'>): boolean =>
  expectedMs > QUICK_MS

export class WaitingCalls<Call extends Waiting> {
  /** Each with its weight: its expected cost and that of the calls of its connection that waited when it came. */
  readonly #calls = new Map<Call, number>()
  #bytes = 0

  get size(): number {
    return this.#calls.size
  }

  /** Adds a call, and refuses one where that is too many: this one or another, with `overloaded`. */
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

  /** Takes out the next call, a long one only where `allowLong`. `used` tells what a tenant has used lately. */
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

  /** All that wait, which wait no longer. */
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

  /** Of equals the newest. There is one, as something is full. */
  #victim(): Call {
    const byTenant = Map.groupBy(this.#calls, ([{ tenant }]) => tenant)
    const most = [...byTenant.values()].reduce((a, b) => (b.length > a.length ? b : a))
    return most.reduce((a, b) => (b[1] >= a[1] ? b : a))[0]
  }
}

interface Rank {
  readonly used: number
  /** Time that a call has waited, in multiples of its weight. */
  readonly urgency: number
}

/** Of one tenant's calls the first has waited longest for its weight; of equals the first in the queue stays first. */
const isBefore = (a: Rank, b: Rank): boolean =>
  a.used === b.used ? a.urgency > b.urgency : a.used < b.used

function overloaded(what: string, limit: string, value: number): CoatcheckError {
  const detail = `${what} to be validated, which is the limit. Send it again in a moment.`
  return new CoatcheckError('overloaded', detail, { limit, value })
}
