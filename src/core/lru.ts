/**
 * A cache bounded by count and by weight. The least recently used entry is dropped first.
 */
/** Bounds of a cache. */
export interface LruBounds {
  readonly maxEntries: number
  readonly maxWeightBytes: number
}

/** Cache of values by key. */
export class LruCache<Key, Value> {
  readonly #entries = new Map<Key, { readonly value: Value; readonly weightBytes: number }>()
  readonly #bounds: LruBounds
  #weightBytes = 0

  constructor(bounds: LruBounds) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: Key): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    return entry.value
  }

  /**
   * Keeps `value` under a key. A value that is over the bounds by itself is not kept, and the one
   * before it is dropped.
   */
  add(key: Key, value: Value, weightBytes: number): void {
    this.#weightBytes -= this.#entries.get(key)?.weightBytes ?? 0
    this.#entries.delete(key)
    this.#entries.set(key, { value, weightBytes })
    this.#weightBytes += weightBytes
    for (const [oldest, entry] of this.#entries) {
      if (!this.#isOver()) break
      this.#entries.delete(oldest)
      this.#weightBytes -= entry.weightBytes
    }
  }

  clear(): void {
    this.#entries.clear()
    this.#weightBytes = 0
  }

  #isOver(): boolean {
    const { maxEntries, maxWeightBytes } = this.#bounds
    return this.#entries.size > maxEntries || this.#weightBytes > maxWeightBytes
  }
}
