/**
 * Checks the position of a chunk in its value. A wrong position would give wrong bytes without an
 * error. So the position has a checksum of its own, and is compared with those of the neighbouring
 * chunks.
 */
import { crc32 } from 'node:zlib'
import type { CoatcheckError } from '../../../core/errors.ts'
import type { ChunkSeek } from '../../ledger.ts'
import { corrupt } from './chunk-encoding.ts'

/** Columns of a chunk that give its position. */
export interface Place {
  readonly result: number
  readonly n: number
  readonly first_byte: number
  readonly first_line: number
  readonly first_crlf: number
  readonly first_char: number
  readonly state: number
  readonly length: number
  /** CRC-32 of its bytes. */
  readonly checksum: number
}

/** Position of a stored chunk. */
export interface KeptPlace extends Place {
  readonly key: number
  /** Null in a row that was written before this column existed. */
  readonly place_checksum: number | null
}

/** Checksum of the columns of {@link Place}, in its order. */
export const placeChecksum = (columns: readonly number[]): number => crc32(columns.join(' '))

const checksumOf = (row: Place): number =>
  placeChecksum([
    row.result,
    row.n,
    row.first_byte,
    row.first_line,
    row.first_crlf,
    row.first_char,
    row.state,
    row.length,
    row.checksum,
  ])

/** Whether a chunk starts where the first chunk of a value starts. */
const isStart = (row: Place): boolean =>
  row.first_byte === 0 &&
  row.first_line === 0 &&
  row.first_crlf === 0 &&
  row.first_char === 0 &&
  row.state === 0

/**
 * Checks rows that were read from `firstKey` on. Throws `ledger_corrupt` unless their keys are
 * consecutive, each checksum fits, and each row starts where the one before ends.
 */
export function requirePlaces(rows: readonly KeptPlace[], firstKey: number): void {
  let before: KeptPlace | undefined
  for (const [i, row] of rows.entries()) {
    if (row.key !== firstKey + i || row.result + row.n !== row.key) throw misplaced()
    if (row.place_checksum !== null && row.place_checksum !== checksumOf(row)) throw misplaced()
    if (row.n === 0 && !isStart(row)) throw misplaced()
    if (before !== undefined && row.first_byte !== before.first_byte + before.length) {
      throw misplaced()
    }
    before = row
  }
}

/**
 * Throws `ledger_corrupt` unless `row` is the chunk that `seek` names. `next` is the chunk after
 * it, undefined at the end of the value.
 */
export function requireFound(seek: ChunkSeek, row: KeptPlace, next: KeptPlace | undefined): void {
  const isFirst = row.n === 0
  let isBetween: boolean
  if ('byte' in seek) {
    isBetween =
      (isFirst || row.first_byte <= seek.byte) &&
      (next === undefined || seek.byte < next.first_byte)
  } else if ('char' in seek) {
    isBetween =
      (isFirst || row.first_char <= seek.char) &&
      (next === undefined || seek.char < next.first_char)
  } else {
    const newlines = seek.line - 1
    isBetween =
      (isFirst || row.first_line < newlines) && (next === undefined || next.first_line >= newlines)
  }
  if (!isBetween) throw misplaced()
}

/** Error `ledger_corrupt` for a chunk that is missing or has another position. */
export const misplaced = (): CoatcheckError => corrupt('is missing, or not where it was kept')
