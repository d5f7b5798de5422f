/**
 * What a put is, whole or in pieces: a retry found, the limits, the run made, the result with its chunks, the counts.
 * Synchronous, and in the caller's transaction.
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

/** Of a run that has yet to be opened. */
const NOTHING_KEPT = { results: 0, kept_bytes: 0 }

const OTHERS_ON_THEIR_WAY =
  'With other values on their way to the run this one has no room in it. Send it again in a moment.'

/** What a put finds. */
interface Found {
  readonly put: StreamedPut
  readonly run: RunRow | undefined
  readonly same: ResultRow | undefined
}

/** How the changes of one put are made. */
export type Apart = (work: () => Appended) => AppendOutcome

const directly: Apart = (work) => work()

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

  /**
   * Keeps puts in their order; a refusal (`ended`, `expired`, `evicted`, `over_limit`) is its put's alone, and has changed
   * nothing. What else is thrown is a fault, which leaves the transaction half done; unless each put's changes go through
   * `apart`, which undoes them and returns the fault as the outcome.
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

  /** The key of an upload; nothing is written. Throws as `keep` would, as far as that is known, and `overloaded`. */
  openUpload(asked: Asked, now: number): number {
    this.#requireRoom(asked, { own: 0, more: asked.names.totalBytes ?? 0 }, now)
    return this.#uploads.open(asked)
  }

  /** Keeps the next chunks of an upload. Throws as `keep` would. */
  stage(key: number, chunks: readonly Chunk[], now: number): void {
    const upload = this.#uploads.find(key)
    this.#requireRoom(upload, { own: upload.bytes, more: bytesIn(chunks) }, now)
    this.#uploads.add(key, chunks)
  }

  /** What the run may have already is let through where there is no room for more: only all of its bytes tell. */
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
    // what is under way may be the same, or come to nothing
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

  /** First all that may be refused, then all that is written. */
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
