/**
 * The rows that values are kept in. The chunks of a result have the keys from the result's own on without a gap, so that a
 * value is read as one range, and a value of one chunk needs no index.
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

/** What takes about as long to erase as a row: erased bytes are overwritten. */
const ROW_BYTES = 8_192

/** The chunks of a value: the key of the first, and how many. */
export interface ChunkKeys {
  readonly key: number
  readonly chunks: number
}

type ChunkRow = KeptPlace & EncodedChunk

/** Finds and reads them. */
export class ChunkReader {
  readonly #sql: ReturnType<typeof prepareReads>

  constructor(db: Database.Database) {
    this.#sql = prepareReads(db)
  }

  /** The chunk to start from, counted from 0. */
  seek(result: number, seek: ChunkSeek): number {
    if ('byte' in seek) return this.#sql.byByte.get(result, seek.byte) ?? 0
    if ('char' in seek) return this.#sql.byChar.get(result, seek.char) ?? 0
    return this.#sql.byLine.get(result, seek.line - 1) ?? 0
  }

  /** The same of a result that is there. Throws `ledger_corrupt` when the chunk is not the one. */
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

  /** Those that are there, without a gap. Throws `ledger_corrupt` for a chunk that is not as it was kept. */
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

/** Keeps and erases them. */
export class ChunkWriter {
  readonly #sql: ReturnType<typeof prepareWrites>

  constructor(db: Database.Database) {
    this.#sql = prepareWrites(db)
  }

  /** Keeps the chunks of a result from the one numbered `n` on. */
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

  /** Erases chunks of a result, or of an upload, in a range of keys. */
  erase(result: number, { first, end }: { readonly first: number; readonly end: number }): void {
    this.#sql.erase.run(first, end, result)
  }

  /** The last key in a range that a chunk has. */
  lastKey(firstKey: number, endKey: number): number | undefined {
    return this.#sql.lastKey.get(firstKey, endKey)
  }

  /** A key past those of all chunks. */
  nextKey(): number {
    return this.#sql.nextKey.get() as number
  }
}

/** Whether a value is asked for from its start, which is in its first chunk. */
const isStart = (seek: ChunkSeek): boolean =>
  'byte' in seek ? seek.byte === 0 : 'char' in seek ? seek.char === 0 : seek.line === 1

/** What one chunk of a value of so many bytes costs to erase, in rows. */
export function eraseCost(valueBytes: number): number {
  return 1 + Math.floor(Math.min(valueBytes, CHUNK_BYTES) / ROW_BYTES)
}

/** The chunks of a put, as parts of its value. */
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
    // by place: names are looked up at every call
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
