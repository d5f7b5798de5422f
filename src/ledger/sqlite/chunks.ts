/**
 * The rows that values are kept in. The chunks of a result have the keys from the result's own on without a gap, so that a
 * value is read as one range, and a value of one chunk needs no index.
 */
import type Database from 'better-sqlite3'
import type { Chunk, ChunkSeek, Put } from '../ledger.ts'
import { decodeChunk, type EncodedChunk, encodeChunk } from './encoding.ts'

interface ChunkRow extends EncodedChunk {
  readonly first_byte: number
  readonly first_line: number
  readonly first_crlf: number
  readonly first_char: number
  readonly state: number
}

interface NewChunk extends ChunkRow {
  readonly key: number
  readonly result: number
  readonly n: number
}

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

  /** Throws `ledger_corrupt` for a chunk that is not as it was kept. */
  read(firstKey: number, endKey: number): readonly Chunk[] {
    return this.#sql.read.all(firstKey, endKey).map((row) => ({
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

  keep(result: number, { kind, value, plan }: Pick<Put, 'kind' | 'value' | 'plan'>): void {
    const incompressible = kind === 'binary'
    for (const [n, chunk] of plan.chunks.entries()) {
      this.#sql.insert.run({
        key: result + n,
        result,
        n,
        first_byte: chunk.firstByte,
        first_line: chunk.firstLine,
        first_crlf: chunk.firstCrlf,
        first_char: chunk.firstChar,
        state: chunk.state,
        ...encodeChunk(value.subarray(chunk.firstByte, chunk.endByte), { incompressible }),
      })
    }
  }

  erase(firstKey: number, endKey: number): void {
    this.#sql.erase.run(firstKey, endKey)
  }
}

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
      `SELECT first_byte, first_line, first_crlf, first_char, state, encoding, length, bytes FROM chunks
       WHERE key >= ? AND key < ? ORDER BY key`,
    ),
  }
}

function prepareWrites(db: Database.Database) {
  return {
    insert: db.prepare<[NewChunk]>(
      `INSERT INTO chunks
         (key, result, n, first_byte, first_line, first_crlf, first_char, state, encoding, length, bytes)
       VALUES
         ($key, $result, $n, $first_byte, $first_line, $first_crlf, $first_char, $state, $encoding, $length, $bytes)`,
    ),
    erase: db.prepare<[number, number]>('DELETE FROM chunks WHERE key >= ? AND key < ?'),
  }
}
