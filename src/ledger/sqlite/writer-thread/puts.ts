/**
 * Carries out puts, of whole values and of uploads: finds retries, checks limits, opens the run,
 * writes the result with its chunks, and updates the counts. Synchronous, in the caller's
 * transaction.
 */
import { CoatcheckError } from '../../../core/errors.ts'
import type { Chunk, StreamedPut } from '../../ledger.ts'
import type { Append, Appended, AppendOutcome, Finish } from '../protocol/messages.ts'
import { type ChunkKeys, type ChunkWriter, chunksOf } from '../rows/chunks.ts'
import { type ResultRow, toResult } from '../rows/result-statements.ts'
import type { RunRow } from '../rows/run-state.ts'
import { RunGroup } from '../run-group.ts'
import { type Results, withoutValue } from './results.ts'
import type { Runs } from './runs.ts'
import { type Asked, bytesIn, type Uploads } from './uploads.ts'

/** Counts of a run that does not exist yet. */
const NOTHING_KEPT = { results: 0, kept_bytes: 0 }

const OTHERS_ON_THEIR_WAY =
  'Unfinished uploads take the room that the run has left. Send the value again in a moment.'

/** State that a put finds. */
interface Found {
  readonly put: StreamedPut
  readonly run: RunRow | undefined
  readonly same: ResultRow | undefined
}

/** Runs the changes of one put, and returns their outcome. */
export type Apart = (work: () => Appended) => AppendOutcome

const directly: Apart = (work) => work()

interface Parts {
  readonly runs: Runs
  readonly results: Results
  readonly chunks: ChunkWriter
  readonly uploads: Uploads
}

/** Puts into the ledger on one connection. */
export class Puts {
  readonly #runs: Runs
  readonly #results: Results
  readonly #chunks: ChunkWriter
  readonly #uploads: Uploads

  /** All parts use the same connection. */
  constructor({ runs, results, chunks, uploads }: Parts) {
    this.#runs = runs
    this.#results = results
    this.#chunks = chunks
    this.#uploads = uploads
  }

  /**
   * Stores puts in their order. A refusal (`ended`, `expired`, `evicted`, `over_limit`) is the
   * outcome of its put alone, which has then changed nothing. Any other error is a fault and leaves
   * the transaction half done. To avoid that, `apart` runs the changes of each put, undoes them
   * after a fault, and returns the fault as the outcome.
   */
  keepAll(
    appends: readonly (Append | Finish)[],
    apart: Apart = directly,
  ): readonly AppendOutcome[] {
    const group = new RunGroup(this.#runs)
    const outcomes = appends.map((append) => this.#tryKeep(append, { group, apart }))
    group.write()
    return outcomes
  }

  /**
   * Opens an upload and returns its key. Writes nothing. Throws the refusals of a put that are
   * known beforehand, and `overloaded`.
   */
  openUpload(asked: Asked, now: number): number {
    this.#requireRoom(asked, { own: 0, more: asked.names.totalBytes ?? 0 }, now)
    return this.#uploads.open(asked)
  }

  /** Writes the next chunks of an upload. Throws the refusals of a put, and `overloaded`. */
  stage(key: number, chunks: readonly Chunk[], now: number): void {
    const upload = this.#uploads.find(key)
    this.#requireRoom(upload, { own: upload.bytes, more: bytesIn(chunks) }, now)
    this.#uploads.add(key, chunks)
  }

  /**
   * Throws `over_limit` or `overloaded` when the run has no room for the value. A value that may be
   * a retry is accepted, since only all of its bytes decide that.
   */
  #requireRoom(
    { ref, names }: Asked,
    bytes: { readonly own: number; readonly more: number },
    now: number,
  ): void {
    const run = this.#runs.requireOpenable(ref, now)
    const refusal = this.#refusalOf(run, this.#uploads.bytesOf(ref) + bytes.more)
    if (refusal === undefined) return
    const whole = bytes.own + bytes.more
    if (run !== undefined && this.#results.mayHave(run, names, whole)) return
    if (this.#refusalOf(run, whole) !== undefined) throw refusal
    // Other uploads may turn out to be retries, or may be abandoned.
    const { facts } = refusal
    throw new CoatcheckError('overloaded', OTHERS_ON_THEIR_WAY, facts)
  }

  #refusalOf(run: RunRow | undefined, bytes: number): CoatcheckError | undefined {
    try {
      this.#results.requireRoom(run ?? NOTHING_KEPT, bytes)
      return undefined
    } catch (refusal) {
      return refusal as CoatcheckError
    }
  }

  /** Checks everything that may be refused before anything is written. */
  #tryKeep(append: Append | Finish, { group, apart }: { group: RunGroup; apart: Apart }) {
    let found: Found
    try {
      found = this.#find(append, group)
    } catch (refusal) {
      if (refusal instanceof CoatcheckError) return { refusal }
      throw refusal
    }
    const { run, same } = found
    if (run === undefined || same === undefined) {
      return apart(() => this.#keep(append, found, group))
    }
    group.set(append.ref, run, append.now)
    return { result: toResult(same), retried: true }
  }

  #find(append: Append | Finish, group: RunGroup): Found {
    const { ref, now } = append
    const put = 'upload' in append ? append.put : withoutValue(append.put)
    const run = group.requireOpenable(ref, now)
    const same = run && this.#results.findSame(run, put)
    if (same !== undefined) return { put, run, same }
    this.#results.requireRoom(run ?? NOTHING_KEPT, put.totalBytes)
    if ('upload' in append) this.#uploads.find(append.upload)
    return { put, run, same }
  }

  #keep(append: Append | Finish, { put, ...found }: Found, group: RunGroup): Appended {
    const { ref, now } = append
    const place = { run: found.run ?? this.#runs.create(ref, now), now }
    const { row, run } = this.#results.keep(place, put, this.#keepChunks(append))
    group.set(ref, run, now)
    return { result: toResult(row), retried: false }
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
