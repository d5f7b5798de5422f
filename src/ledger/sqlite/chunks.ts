/**
 * The rows that values are kept in. The chunks of a result have the keys from the result's own on without a gap, so that a
 * value is read as one range, and a value of one chunk needs no index.
 */
import type Database from 'better-sqlite3'
import type { Chunk, ChunkSeek, Put } from '../ledger.ts'

/** The only encoding so far: bytes as they are. */
const PLAIN = 0

interface ChunkRow {
  readonly first_byte: number
  readonly first_line: number
  readonly first_char: number
  readonly state: number
  readonly bytes: Buffer
}

type NewChunk = [number, number, number, number, number, number, number, number, Buffer]

export class Chunks {
  readonly #sql: ReturnType<typeof prepare>

  constructor(db: Database.Database) {
    this.#sql = prepare(db)
  }

  keep(result: number, { value, plan }: Put): void {
    for (const [n, chunk] of plan.chunks.entries()) {
      const { firstByte, endByte, firstLine, firstChar, state } = chunk
      const bytes = value.subarray(firstByte, endByte)
      this.#sql.insert.run(
        result + n,
        result,
        n,
        firstByte,
        firstLine,
        firstChar,
        state,
        PLAIN,
        bytes,
      )
    }
  }

  /** The chunk to start from, counted from 0. */
  seek(result: number, seek: ChunkSeek): number {
    if ('byte' in seek) return this.#sql.byByte.get(result, seek.byte) ?? 0
    if ('char' in seek) return this.#sql.byChar.get(result, seek.char) ?? 0
    return this.#sql.byLine.get(result, seek.line - 1) ?? 0
  }

  read(firstKey: number, endKey: number): readonly Chunk[] {
    return this.#sql.read.all(firstKey, endKey).map((row) => ({
      firstByte: row.first_byte,
      firstLine: row.first_line,
      firstChar: row.first_char,
      state: row.state,
      bytes: row.bytes,
    }))
  }

  erase(firstKey: number, endKey: number): void {
    this.#sql.erase.run(firstKey, endKey)
  }
}

function prepare(db: Database.Database) {
  const seek = (column: string, relation: string) =>
    db
      .prepare<[number, number], number>(
        `SELECT n FROM chunks WHERE result = ? AND n > 0 AND ${column} ${relation} ?
         ORDER BY ${column} DESC, n DESC LIMIT 1`,
      )
      .pluck()
  return {
    insert: db.prepare<NewChunk>(
      `INSERT INTO chunks (key, result, n, first_byte, first_line, first_char, state, encoding, bytes)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    byByte: seek('first_byte', '<='),
    byChar: seek('first_char', '<='),
    byLine: seek('first_line', '<'),
    read: db.prepare<[number, number], ChunkRow>(
      `SELECT first_byte, first_line, first_char, state, bytes FROM chunks
       WHERE key >= ? AND key < ? ORDER BY key`,
    ),
    erase: db.prepare<[number, number]>('DELETE FROM chunks WHERE key >= ? AND key < ?'),
  }
}
