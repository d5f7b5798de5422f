/**
 * Chunks that were read lately, decoded: a value that is read again and again is decompressed once. A chunk never changes
 * and its key is never given to another while the process lives, so that what is kept is right for as long as its run may be
 * read, which the caller looks at first.
 */
import { LruCache } from '../../../core/lru.ts'
import type { Chunk } from '../../ledger.ts'

/** About what an entry takes beside the chunk's bytes. */
const ENTRY_BYTES = 512

export class ChunkCache {
  readonly #chunks: LruCache<number, Chunk>
  readonly #maxBytes: number

  /** Keeps at most so many bytes; 0: nothing. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#chunks = new LruCache({
      maxEntries: Number.POSITIVE_INFINITY,
      maxWeightBytes: maxBytes,
    })
  }

  /** The chunks with the keys `[first, end)`; from the first one on that is not kept, all come from `load`. */
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

  /** After rows were erased: their bytes are to be gone from memory as well. */
  clear(): void {
    this.#chunks.clear()
  }

  #keep(key: number, chunk: Chunk): void {
    const weightBytes = chunk.bytes.length + ENTRY_BYTES
    if (weightBytes <= this.#maxBytes) this.#chunks.add(key, chunk, weightBytes)
  }
}
