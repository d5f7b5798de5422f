/**
 * What validation has cost lately, in milliseconds of processor time: by connection and by schema, to tell short calls from
 * long ones beforehand, and by tenant, to share the threads. All of it is forgotten by half every few seconds, so that a
 * caller who used up a deadline waits for others for a while, and not for good.
 */
import { LruCache } from '../../core/lru.ts'
import { JUDGE_BYTES_PER_MS } from '../limits.ts'

const HALF_LIFE_MS = 5_000
/** Entries of each kind; the least recently used goes first. */
const ENTRIES = 10_000
/** No call costs less. */
const LEAST_MS = 0.1
/** A call of which nothing is known. */
const UNKNOWN_MS = 5
/** Weight of the newest cost in a mean. */
const NEWEST = 0.5

interface Entry {
  readonly ms: number
  readonly atMs: number
}

/** The time is a parameter, in milliseconds of any steady clock. */
export class Costs {
  readonly #means = new LruCache<string, Entry>({ maxEntries: ENTRIES, maxWeightBytes: ENTRIES })
  readonly #sums = new LruCache<string, Entry>({ maxEntries: ENTRIES, maxWeightBytes: ENTRIES })

  /** Expected cost of a call that the `keys` are known for, each by {@link note}. */
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

  /** What a tenant has used lately. */
  used(tenant: string, nowMs: number): number {
    return left(this.#sums.get(tenant), nowMs) ?? 0
  }

  /** Adds the cost of one call to what a tenant has used. */
  use(tenant: string, ms: number, nowMs: number): void {
    this.#sums.add(tenant, { ms: this.used(tenant, nowMs) + ms, atMs: nowMs }, 1)
  }
}

const left = (entry: Entry | undefined, nowMs: number): number | undefined =>
  entry && entry.ms * 0.5 ** ((nowMs - entry.atMs) / HALF_LIFE_MS)
