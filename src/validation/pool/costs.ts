/**
 * Recent costs of validation in milliseconds of processor time. Costs by connection and by schema
 * predict whether a call is short or long. Costs by tenant share the threads fairly. All costs
 * decay with a half-life of a few seconds, so that a caller who used up a deadline waits for others
 * only for a while.
 */
import { LruCache } from '../../core/lru.ts'
import { JUDGE_BYTES_PER_MS } from '../limits.ts'

const HALF_LIFE_MS = 5_000
/** Most entries of each kind. The least recently used is dropped first. */
const ENTRIES = 10_000
/** Least expected cost of a call. */
const LEAST_MS = 0.1
/** Expected cost of a call without known costs. */
const UNKNOWN_MS = 5
/** Weight of the newest cost in a mean. */
const NEWEST = 0.5

interface Entry {
  readonly ms: number
  readonly atMs: number
}

/**
 * Recent costs. All methods take the time as a parameter, in milliseconds of any monotonic clock.
 */
export class Costs {
  readonly #means = new LruCache<string, Entry>({ maxEntries: ENTRIES, maxWeightBytes: ENTRIES })
  readonly #sums = new LruCache<string, Entry>({ maxEntries: ENTRIES, maxWeightBytes: ENTRIES })

  /**
   * Expected cost of a call for `bytes`, from the costs that {@link note} recorded for its `keys`.
   */
  expect(keys: readonly string[], bytes: number, nowMs: number): number {
    const known = keys.flatMap((key) => left(this.#means.get(key), nowMs) ?? [])
    return Math.max(
      LEAST_MS,
      bytes / JUDGE_BYTES_PER_MS,
      ...(known.length === 0 ? [UNKNOWN_MS] : known),
    )
  }

  /** Adds the cost of one call to the mean of `key`. */
  note(key: string, ms: number, nowMs: number): void {
    const known = left(this.#means.get(key), nowMs) ?? ms
    this.#means.add(key, { ms: NEWEST * ms + (1 - NEWEST) * known, atMs: nowMs }, 1)
  }

  /** Processor time that a tenant used lately. */
  used(tenant: string, nowMs: number): number {
    return left(this.#sums.get(tenant), nowMs) ?? 0
  }

  /** Adds the cost of one call to the use of a tenant. */
  use(tenant: string, ms: number, nowMs: number): void {
    this.#sums.add(tenant, { ms: this.used(tenant, nowMs) + ms, atMs: nowMs }, 1)
  }
}

const left = (entry: Entry | undefined, nowMs: number): number | undefined =>
  entry && entry.ms * 0.5 ** ((nowMs - entry.atMs) / HALF_LIFE_MS)
