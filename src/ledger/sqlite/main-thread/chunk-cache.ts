/**
 * Cache of recently read chunks, decoded, so that a value that is read often is decompressed once.
 *
 * A chunk never changes, and its key is never given to another chunk while the process lives. So an
 * entry stays right as long as its run may be read, which the caller checks first.
 */
import { LruCache } from '../../../core/lru.ts'
import type { Chunk } from '../../ledger.ts'

/** Estimated bytes of memory of an entry, beside the bytes of its chunk. */
const ENTRY_BYTES = 512

/** Cache of chunks by their keys, bounded in bytes. The least recently used are dropped first. */
export class ChunkCache {
  readonly #chunks: LruCache<number, Chunk>
  readonly #maxBytes: number

  /** Holds at most `maxBytes`; 0 disables the cache. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#chunks = new LruCache({
      maxEntries: Number.POSITIVE_INFINITY,
      maxWeightBytes: maxBytes,
    })
  }

  /**
   * Returns the chunks with the keys `[first, end)`. From the first one that is not cached, all are
   * read with `load`.
   */
  read(
    first: number,
    end: number,
    load: (first: number, end: number) => readonly Chunk[],
  ): readonly Chunk[] {
    const chunks: Chunk[] = []
    for (let key = first; key < end; key++) {
      const kept = this.#chunks.get(key)
      if (kept === undefined) break
      chunks.push(kept)
    }
    const missing = first + chunks.length
    if (missing === end) return chunks
    const loaded = load(missing, end)
    for (const [n, chunk] of loaded.entries()) this.#keep(missing + n, chunk)
    return chunks.length === 0 ? loaded : [...chunks, ...loaded]
  }

  /** Drops everything. Called after rows were erased, whose bytes must leave the memory too. */
  clear(): void {
    this.#chunks.clear()
  }

  #keep(key: number, chunk: Chunk): void {
    const weightBytes = chunk.bytes.length + ENTRY_BYTES
    if (weightBytes <= this.#maxBytes) this.#chunks.add(key, chunk, weightBytes)
  }
}
