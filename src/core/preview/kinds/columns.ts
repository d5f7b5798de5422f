/**
 * Columns of a table in lines of a preview: what their cells are, between which bounds, and the
 * values of those with few.
 */
import { excerpt, MARK, nameExcerpt } from '../excerpt.ts'

const NUMERIC = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const INTEGER = /^[+-]?\d+$/
/** Sign and zeros before the first digit that counts. */
const LEADING = /^[+-]?0*/
const DATE = /^\d{4}-\d\d(?:-\d\d)?(?:[T ]\d\d:\d\d.*)?$/
/** Columns past these are counted only. */
const COLUMNS = 256
const DISTINCT_VALUES = 12
const DISTINCT_CHARS = 40
const NAME_BYTES = 48
const VALUE_BYTES = 40
const LINE_BYTES = 220

interface Column {
  readonly name: string
  cells: number
  empty: number
  numbers: number
  integers: number
  dates: number
  min: string
  max: string
  low: string
  high: string
  sample: string
  distinct: Map<string, number> | undefined
}

/** Bounded memory, however many cells are added. */
export class Columns {
  readonly #columns: readonly Column[]

  constructor(names: readonly string[]) {
    this.#columns = names.slice(0, COLUMNS).map((name) => ({
      name,
      cells: 0,
      empty: 0,
      numbers: 0,
      integers: 0,
      dates: 0,
      min: '',
      max: '',
      low: '',
      high: '',
      sample: '',
      distinct: new Map(),
    }))
  }

  /** Cells past the last column are left out. */
  add(cells: readonly string[]): void {
    for (const [index, column] of this.#columns.entries()) {
      const cell = cells[index]
      if (cell !== undefined) addCell(column, cell)
    }
  }

  /** `date: date 2012-01-01..2015-12-31`, a line each. */
  lines(): readonly string[] {
    return this.#columns.map(
      (column) => `${nameExcerpt(column.name.trim(), NAME_BYTES).text}: ${columnText(column)}`,
    )
  }
}

function addCell(column: Column, cell: string): void {
  column.cells++
  if (cell === '') {
    column.empty++
    return
  }
  if (column.sample === '') column.sample = cell
  if (NUMERIC.test(cell)) addNumber(column, cell)
  else if (DATE.test(cell)) column.dates++
  if (column.low === '' || cell < column.low) column.low = cell
  if (column.high === '' || cell > column.high) column.high = cell
  const { distinct } = column
  if (distinct === undefined) return
  distinct.set(cell, (distinct.get(cell) ?? 0) + 1)
  if (distinct.size > DISTINCT_VALUES || cell.length > DISTINCT_CHARS) column.distinct = undefined
}

function addNumber(column: Column, cell: string): void {
  column.numbers++
  if (INTEGER.test(cell)) column.integers++
  if (column.min === '' || isLess(cell, column.min)) column.min = cell
  if (column.max === '' || isLess(column.max, cell)) column.max = cell
}

/** Exact for integers of any length. */
function isLess(a: string, b: string): boolean {
  return INTEGER.test(a) && INTEGER.test(b) ? compareIntegers(a, b) < 0 : Number(a) < Number(b)
}

function compareIntegers(a: string, b: string): number {
  const [signA, signB] = [a.startsWith('-') ? -1 : 1, b.startsWith('-') ? -1 : 1]
  if (signA !== signB) return signA - signB
  const [digitsA, digitsB] = [a.replace(LEADING, ''), b.replace(LEADING, '')]
  const difference = digitsA.length - digitsB.length
  if (difference !== 0) return difference * signA
  if (digitsA === digitsB) return 0
  return digitsA < digitsB ? -signA : signA
}

/** A number as written; a long one is cut. */
function numberText(text: string): string {
  return text.length > VALUE_BYTES ? `${text.slice(0, VALUE_BYTES)}${MARK}` : text
}

function columnText(column: Column): string {
  const { cells, empty, numbers, integers, dates, distinct } = column
  const filled = cells - empty
  const missing = empty === 0 ? '' : `, empty×${empty}`
  if (filled === 0) return `empty×${empty}`
  if (numbers === filled) {
    const kind = integers === numbers ? 'int' : 'number'
    return `${kind} ${numberText(column.min)} to ${numberText(column.max)}${missing}`
  }
  if (dates === filled)
    return `date ${excerpt(column.low, VALUE_BYTES).text} to ${excerpt(column.high, VALUE_BYTES).text}${missing}`
  const other = numbers > 0 ? `, int or number×${numbers}` : ''
  if (distinct !== undefined && distinct.size < filled) {
    const values = [...distinct].toSorted((a, b) => b[1] - a[1])
    const list = values
      .map(([value, count]) => `${excerpt(value, VALUE_BYTES).text}×${count}`)
      .join('|')
    if (Buffer.byteLength(list) <= LINE_BYTES) return list + missing
  }
  return `string ${excerpt(column.sample, VALUE_BYTES).text}, …${other}${missing}`
}
