/**
 * What a put is, whole or in pieces: the run opened, a retry found, the limits, the result with its chunks, the counts.
 * Synchronous, and in the caller's transaction.
 */
import type { Chunk, RunRef } from '../ledger.ts'
import { type ChunkKeys, type ChunkWriter, chunksOf } from './chunks.ts'
import type { Append, Appended, Finish } from './messages.ts'
import { toResult } from './result-statements.ts'
import { type Results, withoutValue } from './results.ts'
import type { Runs } from './runs.ts'
import { bytesIn, type Uploads } from './uploads.ts'

/** Of a run that has yet to be opened. */
const NOTHING_KEPT = { results: 0, kept_bytes: 0 }

interface Parts {
  readonly runs: Runs
  readonly results: Results
  readonly chunks: ChunkWriter
  readonly uploads: Uploads
}

export class Puts {
  readonly #runs: Runs
  readonly #results: Results
  readonly #chunks: ChunkWriter
  readonly #uploads: Uploads

  /** The parts are of the same connection. */
  constructor({ runs, results, chunks, uploads }: Parts) {
    this.#runs = runs
    this.#results = results
    this.#chunks = chunks
    this.#uploads = uploads
  }

  /** Throws `ended`, `expired`, `evicted`, `over_limit`. */
  keep(append: Append | Finish): Appended {
    const { ref, now } = append
    const put = 'upload' in append ? append.put : withoutValue(append.put)
    const { row: run } = this.#runs.open(ref, now)
    const same = this.#results.findSame(run, put)
    if (same !== undefined) return { result: toResult(same), retried: true }
    this.#results.requireRoom(run, put.totalBytes)
    const { row, counts } = this.#results.keep({ run, now }, put, this.#keepChunks(append))
    this.#runs.count(run, counts)
    return { result: toResult(row), retried: false }
  }

  /** The key of an upload; nothing is written. Throws as `keep` would, as far as that is known, and `overloaded`. */
  openUpload(ref: RunRef, now: number): number {
    const run = this.#runs.requireOpenable(ref, now)
    if (run !== undefined) this.#results.requireRoom(run, this.#uploads.bytesOf(ref))
    return this.#uploads.open(ref)
  }

  /** Keeps the next chunks of an upload. Throws as `keep` would. */
  stage(key: number, chunks: readonly Chunk[], now: number): void {
    const { ref } = this.#uploads.find(key)
    const run = this.#runs.requireOpenable(ref, now) ?? NOTHING_KEPT
    this.#results.requireRoom(run, this.#uploads.bytesOf(ref) + bytesIn(chunks))
    this.#uploads.add(key, chunks)
  }

  #keepChunks(append: Append | Finish): ChunkKeys {
    if ('upload' in append) return this.#uploads.finish(append.upload)
    const { put } = append
    const chunks = put.plan.chunks.length
    const key = this.#results.reserve(chunks)
    const incompressible = put.kind === 'binary'
    this.#chunks.keep({ result: key, n: 0 }, chunksOf(put), { incompressible })
    return { key, chunks }
  }
}
