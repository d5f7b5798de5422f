/**
 * Uploads: values that arrive in pieces. Their chunks are already rows, under keys reserved for
 * them. A row of the table `uploads` says that no result has these chunks yet.
 *
 * This class knows which uploads are under way. All others are to be erased, so a failed upload
 * needs no further steps, and after a crash all are erased. Synchronous, in the caller's
 * transaction.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { CHUNK_BYTES } from '../../../core/limits.ts'
import type { Chunk, PutNames, RunRef } from '../../ledger.ts'
import { type ChunkKeys, type ChunkWriter, eraseCost } from '../rows/chunks.ts'
import type { Results } from './results.ts'
import { type GivingWay, givingWay } from './upload-shares.ts'

/**
 * Keys reserved for one value, since its chunks have no gaps: 256 GiB of chunks. There are plenty
 * of keys.
 */
const RESERVED_KEYS = 4_194_304
/**
 * Most uploads at a time, since each takes some memory here and in the reader of its request. Above
 * it: `overloaded`.
 */
const UPLOADS = 64
/**
 * After this many milliseconds without a chunk, an upload makes room for another when the limit is
 * reached.
 */
const QUIET_MS = 5_000

/** Run of an upload, and the names of its put. */
export interface Asked {
  readonly ref: RunRef
  readonly names: PutNames
}

interface Upload extends Asked {
  readonly chunks: number
  readonly bytes: number
  /**
   * Time of the last data, by the monotonic clock in milliseconds. Infinite while a call for it
   * waits its turn.
   */
  quietSince: number
}

/** Uploads on one connection. */
export class Uploads {
  readonly #sql: ReturnType<typeof prepare>
  readonly #chunks: ChunkWriter
  readonly #results: Results
  readonly #underWay = new Map<number, Upload>()
  /** Uploads that had to make room, until their callers have been told. */
  readonly #displaced = new Map<number, GivingWay['why']>()

  /** All parts use the same connection. */
  constructor(
    db: Database.Database,
    parts: { readonly chunks: ChunkWriter; readonly results: Results },
  ) {
    this.#sql = prepare(db)
    this.#chunks = parts.chunks
    this.#results = parts.results
  }

  /**
   * Opens an upload: reserves keys, of which the first names the upload, and writes nothing. At the
   * limit another upload makes room, see `upload-shares.ts`. Throws `overloaded` when none does.
   */
  open({ ref, names }: Asked): number {
    if (this.#underWay.size >= UPLOADS) this.#makeRoom(ref.tenant)
    const key = this.#results.reserve(RESERVED_KEYS)
    this.#underWay.set(key, { ref, names, chunks: 0, bytes: 0, quietSince: performance.now() })
    return key
  }

  /** Notes that a call for an upload has arrived and waits its turn. */
  heard(key: number): void {
    const upload = this.#underWay.get(key)
    if (upload !== undefined) upload.quietSince = Number.POSITIVE_INFINITY
  }

  /**
   * Finds an upload. Throws `ended` for one that was dropped, and `overloaded` for one that made
   * room.
   */
  find(key: number): Upload {
    const upload = this.#underWay.get(key)
    if (upload !== undefined) return upload
    const why = this.#displaced.get(key)
    if (why !== undefined) throw overloaded(DISPLACED[why])
    const detail = 'The run was purged while the value was being sent. Nothing of it is stored.'
    throw new CoatcheckError('ended', detail)
  }

  /** Bytes that have come so far for all uploads of a run. */
  bytesOf(ref: RunRef): number {
    let bytes = 0
    for (const upload of this.#underWay.values()) if (isSame(upload.ref, ref)) bytes += upload.bytes
    return bytes
  }

  /**
   * Writes the next chunks. The caller calls {@link added} when they are committed. Throws
   * `over_limit` for too many chunks.
   */
  add(key: number, chunks: readonly Chunk[]): void {
    const upload = this.find(key)
    if (upload.chunks + chunks.length > RESERVED_KEYS) {
      throw new CoatcheckError(
        'over_limit',
        'The value has more chunks than a value may have. Put it in parts.',
        {
          limit: 'chunks',
          value: RESERVED_KEYS,
        },
      )
    }
    if (upload.chunks === 0) this.#sql.insert.run(key)
    this.#chunks.keep({ result: key, n: upload.chunks }, chunks, { incompressible: false })
  }

  /** Counts chunks that are committed. */
  added(key: number, chunks: readonly Chunk[]): void {
    const before = this.find(key)
    this.#underWay.set(key, {
      ...before,
      chunks: before.chunks + chunks.length,
      bytes: before.bytes + bytesIn(chunks),
      quietSince: performance.now(),
    })
  }

  /** Finishes an upload. Returns its chunks, which belong to a result from now on. */
  finish(key: number): ChunkKeys {
    const { chunks } = this.find(key)
    this.#sql.erase.run(key)
    return { key, chunks }
  }

  /** Forgets an upload. It is to be erased, unless it was finished. */
  drop(key: number): void {
    this.#underWay.delete(key)
    this.#displaced.delete(key)
  }

  /** Forgets all uploads of a run. */
  dropAll(ref: RunRef): void {
    for (const [key, upload] of this.#underWay) if (isSame(upload.ref, ref)) this.drop(key)
  }

  /** Key of an upload that is to be erased. Undefined when there is none. */
  toErase(): number | undefined {
    return this.#sql.all.all().find((key) => !this.#underWay.has(key))
  }

  #makeRoom(tenant: string): void {
    const shares = new Map(
      [...this.#underWay].map(([key, { ref, bytes, quietSince }]) => [
        key,
        { tenant: ref.tenant, bytes, quietSince },
      ]),
    )
    const quietBefore = performance.now() - QUIET_MS
    const giving = givingWay(shares, { tenant, quietBefore })
    if (giving === undefined) {
      throw overloaded(`${UPLOADS} uploads are under way, which is the limit.`)
    }
    this.#underWay.delete(giving.key)
    this.#displaced.set(giving.key, giving.why)
  }

  /**
   * Erases chunks of an upload from its end while `budget` (see `eraseCost`) lasts. Returns the
   * rest of the budget: above 0 when everything is erased.
   */
  erase(key: number, budget: number): number {
    const cost = eraseCost(CHUNK_BYTES)
    const last = this.#chunks.lastKey(key, key + RESERVED_KEYS)
    if (last !== undefined) {
      const first = Math.max(key, last + 1 - Math.ceil(budget / cost))
      this.#chunks.erase(key, { first, end: last + 1 })
      const left = budget - (last + 1 - first) * cost
      if (first > key || left <= 0) return 0
      this.#sql.erase.run(key)
      return left
    }
    this.#sql.erase.run(key)
    return budget
  }
}

const DISPLACED: Readonly<Record<GivingWay['why'], string>> = {
  quiet: `No data of the value came for ${QUIET_MS} ms while others waited.`,
  share: `The value made room for one of another tenant, which had fewer of the ${UPLOADS} uploads that may be under way.`,
}

const overloaded = (what: string): CoatcheckError =>
  new CoatcheckError('overloaded', `${what} Send it again in a moment.`, {
    limit: 'uploads',
    value: UPLOADS,
  })

/** Sum of the bytes of chunks. */
export function bytesIn(chunks: readonly Chunk[]): number {
  return chunks.reduce((sum, { bytes }) => sum + bytes.length, 0)
}

const isSame = (a: RunRef, b: RunRef): boolean => a.tenant === b.tenant && a.run === b.run

function prepare(db: Database.Database) {
  return {
    insert: db.prepare<[number]>('INSERT INTO uploads (key) VALUES (?)'),
    erase: db.prepare<[number]>('DELETE FROM uploads WHERE key = ?'),
    all: db.prepare<[], number>('SELECT key FROM uploads ORDER BY key').pluck(),
  }
}
