/**
 * Rows that hold the chunks of values. The first chunk of a result has the key of the result, and
 * the others follow without a gap. So a value is read as one range, and a value of one chunk needs
 * no index.
 */
import type Database from 'better-sqlite3'
import { CHUNK_BYTES } from '../../../core/limits.ts'
import type { Chunk, ChunkSeek, Put } from '../../ledger.ts'
import { decodeChunk, type EncodedChunk, encodeChunk } from './chunk-encoding.ts'
import {
  type KeptPlace,
  misplaced,
  placeChecksum,
  requireFound,
  requirePlaces,
} from './chunk-integrity.ts'

/** Bytes that take about as long to erase as a row, since erased bytes are overwritten. */
const ROW_BYTES = 8_192

/** Chunks of a value: the key of the first, and their number. */
export interface ChunkKeys {
  readonly key: number
  readonly chunks: number
}

type ChunkRow = KeptPlace & EncodedChunk

/** Finds and reads chunks. */
export class ChunkReader {
  readonly #sql: ReturnType<typeof prepareReads>

  constructor(db: Database.Database) {
    this.#sql = prepareReads(db)
  }

  /** Number of the chunk that `seek` names, from 0. */
  seek(result: number, seek: ChunkSeek): number {
    if ('byte' in seek) return this.#sql.byByte.get(result, seek.byte) ?? 0
    if ('char' in seek) return this.#sql.byChar.get(result, seek.char) ?? 0
    return this.#sql.byLine.get(result, seek.line - 1) ?? 0
  }

  /**
   * Like {@link seek}, for an existing result. Throws `ledger_corrupt` when the chunk that is found
   * is not the one.
   */
  find({ key, chunks }: ChunkKeys, seek: ChunkSeek): number {
    if (chunks === 1 || isStart(seek)) return 0
    const n = this.seek(key, seek)
    const end = Math.min(key + n + 2, key + chunks)
    const places = this.#sql.places.all(key + n, end)
    const [row, next] = places
    if (row === undefined || places.length < end - key - n) throw misplaced()
    requirePlaces(places, key + n)
    requireFound(seek, row, next)
    return n
  }

  /**
   * Reads the chunks with the keys `[firstKey, endKey)` that exist. Throws `ledger_corrupt` when
   * there is a gap, or a chunk is not as it was written.
   */
  read(firstKey: number, endKey: number): readonly Chunk[] {
    const rows = this.#sql.read.all(firstKey, endKey)
    requirePlaces(rows, firstKey)
    return rows.map((row) => ({
      firstByte: row.first_byte,
      firstLine: row.first_line,
      firstCrlf: row.first_crlf,
      firstChar: row.first_char,
      state: row.state,
      bytes: decodeChunk(row),
    }))
  }
}

/** Writes and erases chunks. Synchronous, in the caller's transaction. */
export class ChunkWriter {
  readonly #sql: ReturnType<typeof prepareWrites>

  constructor(db: Database.Database) {
    this.#sql = prepareWrites(db)
  }

  /** Writes chunks of a result. The first of them is number `n`. */
  keep(
    { result, n }: { readonly result: number; readonly n: number },
    chunks: Iterable<Chunk>,
    how: { readonly incompressible: boolean },
  ): void {
    let at = n
    for (const { bytes, ...place } of chunks) {
      const { encoding, length, checksum, bytes: kept } = encodeChunk(bytes, how)
      const { firstByte, firstLine, firstCrlf, firstChar, state } = place
      const sums = [firstByte, firstLine, firstCrlf, firstChar, state] as const
      const sealed = placeChecksum([result, at, ...sums, length, checksum])
      const columns = [...sums, encoding, length, checksum, kept, sealed] as const
      this.#sql.insert.run(result + at, result, at, ...columns)
      at++
    }
  }

  /** Erases chunks of a result or an upload whose keys are in `[first, end)`. */
  erase(result: number, { first, end }: { readonly first: number; readonly end: number }): void {
    this.#sql.erase.run(first, end, result)
  }

  /** Largest key of a chunk in `[firstKey, endKey)`. Undefined without one. */
  lastKey(firstKey: number, endKey: number): number | undefined {
    return this.#sql.lastKey.get(firstKey, endKey)
  }

  /** The smallest key after those of all chunks. */
  nextKey(): number {
    return this.#sql.nextKey.get() as number
  }
}

/** Whether `seek` names the start of a value, which is in its first chunk. */
const isStart = (seek: ChunkSeek): boolean =>
  'byte' in seek ? seek.byte === 0 : 'char' in seek ? seek.char === 0 : seek.line === 1

/** Cost of erasing one chunk of a value of `valueBytes`, in rows. */
export function eraseCost(valueBytes: number): number {
  return 1 + Math.floor(Math.min(valueBytes, CHUNK_BYTES) / ROW_BYTES)
}

/** Yields the chunks of a put. Their bytes are parts of its value, not copies. */
export function* chunksOf({ value, plan }: Pick<Put, 'value' | 'plan'>): Generator<Chunk> {
  for (const { endByte, ...place } of plan.chunks) {
    yield { ...place, bytes: value.subarray(place.firstByte, endByte) }
  }
}

const PLACE =
  'key, result, n, first_byte, first_line, first_crlf, first_char, state, length, checksum, place_checksum'

function prepareReads(db: Database.Database) {
  const seek = (column: string, relation: string) =>
    db
      .prepare<[number, number], number>(
        `SELECT n FROM chunks WHERE result = ? AND n > 0 AND ${column} ${relation} ?
         ORDER BY ${column} DESC, n DESC LIMIT 1`,
      )
      .pluck()
  return {
    byByte: seek('first_byte', '<='),
    byChar: seek('first_char', '<='),
    byLine: seek('first_line', '<'),
    read: db.prepare<[number, number], ChunkRow>(
      `SELECT ${PLACE}, encoding, bytes FROM chunks WHERE key >= ? AND key < ? ORDER BY key`,
    ),
    places: db.prepare<[number, number], KeptPlace>(
      `SELECT ${PLACE} FROM chunks WHERE key >= ? AND key < ? ORDER BY key`,
    ),
  }
}

function prepareWrites(db: Database.Database) {
  const number = <Bind extends unknown[]>(sql: string) => db.prepare<Bind, number>(sql).pluck()
  return {
    // Bound by position: names are looked up at every call.
    insert: db.prepare<[...number[], Buffer, number]>(
      `INSERT INTO chunks
         (key, result, n, first_byte, first_line, first_crlf, first_char, state,
          encoding, length, checksum, bytes, place_checksum)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    erase: db.prepare<[number, number, number]>(
      'DELETE FROM chunks WHERE key >= ? AND key < ? AND result = ?',
    ),
    lastKey: number<[number, number]>(
      'SELECT key FROM chunks WHERE key >= ? AND key < ? ORDER BY key DESC LIMIT 1',
    ),
    nextKey: number<[]>('SELECT coalesce(max(key), 0) + 1 FROM chunks'),
  }
}
