/**
 * Values on their way in pieces: their chunks are rows already, under keys set aside for them, and a row of `uploads` says
 * that no result has them. Here is known who is still adding; what nobody adds to is to be erased, so that nothing has to be
 * done about it where an upload fails, and after a crash all are. Synchronous, and in the caller's transaction.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { CHUNK_BYTES } from '../../../core/limits.ts'
import type { Chunk, PutNames, RunRef } from '../../ledger.ts'
import { type ChunkKeys, type ChunkWriter, eraseCost } from '../rows/chunks.ts'
import type { Results } from './results.ts'
import { type GivingWay, givingWay } from './upload-shares.ts'

/** Set aside for the chunks of one value, since they have no gaps: 256 GiB of them. Keys are plenty. */
const RESERVED_KEYS = 4_194_304
/** Each holds some memory here and in its reader. Past it: `overloaded`. */
const UPLOADS = 64
/** After so long without a chunk, an upload makes room for another one where there is none. */
const QUIET_MS = 5_000

/** For whom an upload is, and as what. */
export interface Asked {
  readonly ref: RunRef
  readonly names: PutNames
}

interface Upload extends Asked {
  readonly chunks: number
  readonly bytes: number
  /** Since when nothing came of it, by this process's clock; past all times while something waits to be done. */
  quietSince: number
}

export class Uploads {
  readonly #sql: ReturnType<typeof prepare>
  readonly #chunks: ChunkWriter
  readonly #results: Results
  readonly #underWay = new Map<number, Upload>()
  /** Those that had to make room, until their callers have heard of it. */
  readonly #displaced = new Map<number, GivingWay['why']>()

  /** The parts are of the same connection. */
  constructor(
    db: Database.Database,
    parts: { readonly chunks: ChunkWriter; readonly results: Results },
  ) {
    this.#sql = prepare(db)
    this.#chunks = parts.chunks
    this.#results = parts.results
  }

  /**
   * Sets keys aside; nothing is written. The first of them names the upload. Where too many are under way, one makes room, see
   * `upload-shares.ts`. Throws `overloaded` when none does.
   */
  open({ ref, names }: Asked): number {
    if (this.#underWay.size >= UPLOADS) this.#makeRoom(ref.tenant)
    const key = this.#results.reserve(RESERVED_KEYS)
    this.#underWay.set(key, { ref, names, chunks: 0, bytes: 0, quietSince: performance.now() })
    return key
  }

  /** Something came of it, which waits to be done. */
  heard(key: number): void {
    const upload = this.#underWay.get(key)
    if (upload !== undefined) upload.quietSince = Number.POSITIVE_INFINITY
  }

  /** Throws `ended` for one that was dropped, `overloaded` for one that made room. */
  find(key: number): Upload {
    const upload = this.#underWay.get(key)
    if (upload !== undefined) return upload
    const why = this.#displaced.get(key)
    if (why !== undefined) throw overloaded(DISPLACED[why])
    const detail = 'The run was purged while the value was on its way. Nothing of it is kept.'
    throw new CoatcheckError('ended', detail)
  }

  /** The bytes that a run's uploads have brought so far. */
  bytesOf(ref: RunRef): number {
    let bytes = 0
    for (const upload of this.#underWay.values()) if (isSame(upload.ref, ref)) bytes += upload.bytes
    return bytes
  }

  /** Writes the next chunks; `added` when they are committed. */
  add(key: number, chunks: readonly Chunk[]): void {
    const upload = this.find(key)
    if (upload.chunks + chunks.length > RESERVED_KEYS) {
      throw new CoatcheckError(
        'over_limit',
        'The value has more pieces than one may have. Put it in parts.',
        {
          limit: 'chunks',
          value: RESERVED_KEYS,
        },
      )
    }
    if (upload.chunks === 0) this.#sql.insert.run(key)
    this.#chunks.keep({ result: key, n: upload.chunks }, chunks, { incompressible: false })
  }

  added(key: number, chunks: readonly Chunk[]): void {
    const before = this.find(key)
    this.#underWay.set(key, {
      ...before,
      chunks: before.chunks + chunks.length,
      bytes: before.bytes + bytesIn(chunks),
      quietSince: performance.now(),
    })
  }

  /** A result has its chunks from now on. */
  finish(key: number): ChunkKeys {
    const { chunks } = this.find(key)
    this.#sql.erase.run(key)
    return { key, chunks }
  }

  /** Nobody adds to it any more: it is to be erased, unless it was finished. */
  drop(key: number): void {
    this.#underWay.delete(key)
    this.#displaced.delete(key)
  }

  /** The same for all of a run. */
  dropAll(ref: RunRef): void {
    for (const [key, upload] of this.#underWay) if (isSame(upload.ref, ref)) this.drop(key)
  }

  /** One that is to be erased. */
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
      throw overloaded(`${UPLOADS} values are on their way in pieces, which is the limit.`)
    }
    this.#underWay.delete(giving.key)
    this.#displaced.set(giving.key, giving.why)
  }

  /** Erases from its end while `budget` (see `eraseCost`) lasts; returns what is left of it, above 0 when all is gone. */
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
  quiet: `Nothing came of the value for ${QUIET_MS} ms while others waited.`,
  share: `The value made room for one of another tenant, which had fewer of the ${UPLOADS} that may be on their way.`,
}

const overloaded = (what: string): CoatcheckError =>
  new CoatcheckError('overloaded', `${what} Send it again in a moment.`, {
    limit: 'uploads',
    value: UPLOADS,
  })

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
