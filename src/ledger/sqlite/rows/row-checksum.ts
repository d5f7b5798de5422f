/**
 * A checksum over all columns of a row, kept in it. Rows are found by indexes, and SQLite does not check what it reads: a damaged
 * page can give another row than the one that was asked for, or one with other columns.
 */
import { crc32 } from 'node:zlib'
import { CoatcheckError } from '../../../core/errors.ts'

export type Column = string | number | Buffer | null

/** CRC-32 of columns in their order; no two lists of columns are written alike. */
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

/** Also of bytes that came from another thread, which are no Buffer. */
const latin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1')

/** Checks rows of one kind. */
export class RowCheck<Row extends { readonly row_checksum: number | null }> {
  readonly #columns: readonly (keyof Row)[]

  /** `columns`: all but the checksum. */
  constructor(columns: readonly (keyof Row)[]) {
    this.#columns = columns
  }

  of(row: Omit<Row, 'row_checksum'>): number {
    return rowChecksum(this.#columns.map((name) => (row as Row)[name] as Column))
  }

  isSound(row: Row): boolean {
    return row.row_checksum === null || row.row_checksum === this.of(row)
  }

  /** Throws `ledger_corrupt` unless the row is as it was kept and has the columns that were asked for. */
  require(row: Row, asked: Partial<Row> = {}): Row {
    if (!this.isSound(row)) throw damaged()
    for (const name in asked) if (row[name] !== asked[name]) throw damaged()
    return row
  }
}

/** A row is not as it was kept, or is hidden. */
export const damaged = (): CoatcheckError =>
  new CoatcheckError('ledger_corrupt', 'A row is missing, or is not the one that was kept.')
