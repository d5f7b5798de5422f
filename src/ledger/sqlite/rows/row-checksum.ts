/**
 * Checksums of rows, each stored in its row. SQLite does not check what it reads, and rows are
 * found by indexes. So a damaged page can return another row than the one that was asked for, or
 * one with other columns.
 */
import { crc32 } from 'node:zlib'
import { CoatcheckError } from '../../../core/errors.ts'

/** Value of a column. */
export type Column = string | number | Buffer | null

/** CRC-32 of columns in their order. Different lists of columns give different input to it. */
export function rowChecksum(columns: readonly Column[]): number {
  let text = ''
  for (const column of columns) {
    if (typeof column === 'number') text += `${column} `
    else if (column === null) text += '- '
    else if (typeof column === 'string') text += `${column.length}:${column}`
    else text += `${column.length}:${latin1(column)}`
  }
  return crc32(text)
}

/** Bytes as Latin-1. Bytes from another thread are no `Buffer`. */
const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/** Checks the rows of one table. */
export class RowCheck<Row extends { readonly row_checksum: number | null }> {
  readonly #columns: readonly (keyof Row)[]

  /** `columns` are the columns that the checksum covers. */
  constructor(columns: readonly (keyof Row)[]) {
    this.#columns = columns
  }

  /** Returns the checksum of a row. */
  of(row: Omit<Row, 'row_checksum'>): number {
    return rowChecksum(this.#columns.map((name) => (row as Row)[name] as Column))
  }

  /** Whether the checksum of a row fits, or it has none. */
  isSound(row: Row): boolean {
    return row.row_checksum === null || row.row_checksum === this.of(row)
  }

  /**
   * Returns the row. Throws `ledger_corrupt` unless its checksum fits and it has the columns that
   * were asked for.
   */
  require(row: Row, asked: Partial<Row> = {}): Row {
    if (!this.isSound(row)) throw damaged()
    for (const name in asked) if (row[name] !== asked[name]) throw damaged()
    return row
  }
}

/**
 * Error `ledger_corrupt` for a row that is not as it was written, or that an index does not find.
 */
export const damaged = (): CoatcheckError =>
  new CoatcheckError('ledger_corrupt', 'A row is missing, or is not the one that was kept.')
