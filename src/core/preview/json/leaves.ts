/** Reads strings and numbers into a {@link Shape}. */
import { compareNumbers, isInteger } from './numbers.ts'
import {
  DISTINCT_STRING_BYTES,
  DISTINCT_STRINGS,
  type Distinct,
  type Extent,
  type NumberAt,
  ROW_RUNS,
  type Shape,
} from './shape.ts'

const HYPHEN = 0x2d
const ZERO = 0x30
const NINE = 0x39
/** `2024-01-31` */
const DATE_BYTES = 10
const DATE_HYPHENS: readonly number[] = [4, 7]

/** Adds a number token to `shape`. */
export function readNumber(bytes: Buffer, number: NumberAt, shape: Shape): void {
  shape.numbers++
  if (isInteger(bytes, number)) shape.integers++
  const { min, max } = shape
  if (min === undefined || compareNumbers(bytes, number, min) < 0) shape.min = number
  if (max === undefined || compareNumbers(bytes, number, max) > 0) shape.max = number
}

/** `token` with its quotes. */
export function readString(bytes: Buffer, token: Extent, shape: Shape, row: number): void {
  const { start, end } = token
  shape.strings++
  shape.stringBytes += end - start
  shape.firstString ??= token
  if (shape.longest === undefined || end - start > shape.longest.end - shape.longest.start) {
    shape.longest = token
  }
  if (shape.dates === shape.strings - 1 && isDate(bytes, token)) {
    shape.dates++
    if (shape.lowest === undefined || compareBytes(bytes, token, shape.lowest) < 0) {
      shape.lowest = token
    }
    if (shape.highest === undefined || compareBytes(bytes, token, shape.highest) > 0) {
      shape.highest = token
    }
  }
  const known = countDistinct(bytes, token, shape, row)
  noteRun(shape, known, row)
}

function countDistinct(
  bytes: Buffer,
  token: Extent,
  shape: Shape,
  row: number,
): Distinct | undefined {
  const { distinct } = shape
  if (distinct === undefined) return undefined
  const known = distinct.find((other) => sameBytes(bytes, token, other))
  if (known !== undefined) {
    known.count++
    return known
  }
  if (distinct.length === DISTINCT_STRINGS || token.end - token.start > DISTINCT_STRING_BYTES) {
    shape.distinct = undefined
    return undefined
  }
  const added = { ...token, count: 1, row }
  distinct.push(added)
  return added
}

function noteRun(shape: Shape, value: Distinct | undefined, row: number): void {
  const { runs } = shape
  if (runs === undefined) return
  const last = runs.at(-1)
  if (value === undefined || row < 0) shape.runs = undefined
  else if (last !== undefined && last.value === value && last.to === row - 1) last.to = row
  else if (runs.length === ROW_RUNS) shape.runs = undefined
  else runs.push({ value, from: row, to: row })
}

function isDate(bytes: Buffer, { start, end }: Extent): boolean {
  if (end - start < DATE_BYTES + 2) return false
  for (let at = 0; at < DATE_BYTES; at++) {
    const byte = bytes[start + 1 + at] ?? 0
    if (DATE_HYPHENS.includes(at) ? byte !== HYPHEN : byte < ZERO || byte > NINE) return false
  }
  return true
}

function sameBytes(bytes: Buffer, a: Extent, b: Extent): boolean {
  const length = a.end - a.start
  if (length !== b.end - b.start) return false
  for (let at = 0; at < length; at++) {
    if (bytes[a.start + at] !== bytes[b.start + at]) return false
  }
  return true
}

function compareBytes(bytes: Buffer, a: Extent, b: Extent): number {
  return bytes.compare(bytes, b.start, b.end, a.start, a.end)
}
