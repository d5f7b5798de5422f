/**
 * Tables: values separated by comma, tab, semicolon or bar, with quotes as in RFC 4180. Records are
 * counted over the whole text, line ends inside quotes included; columns are told from the start of
 * it.
 */
import { excerpt, MARK } from '../excerpt.ts'
import type { PreviewLine } from '../lines.ts'
import { Columns } from './columns.ts'
import type { Kind, KindSurvey, Reading, TextHead, TextWhole } from './kind.ts'
import {
  DELIMITERS,
  type Delimiter,
  RecordCounter,
  recordsOf,
  type TableRecord,
} from './records.ts'

/** Records at the start that must agree. */
const AGREEING_RECORDS = 20
const AGREEING_SHARE = 0.9
const LEAST_RECORDS = 3
const CELL_BYTES = 48
const RECORD_BYTES = 160
const PROSE_CHARS = 400
const NUMERIC = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const RANK_COLUMNS = 0
const RANK_FIRST = 10
const RANK_LAST = 11
const RANK_RAGGED = 5
const RAGGED_SHOWN = 2

/** CSV, TSV and their relatives. */
export const csv: Kind = {
  name: 'csv',
  recognize(head) {
    for (const delimiter of DELIMITERS) {
      const records = [...recordsOf(head.lines, delimiter)]
      if (isTable(records, head)) return new CsvSurvey(delimiter, records)
    }
    return undefined
  },
}

function isTable(records: readonly TableRecord[], head: TextHead): boolean {
  const first = records.slice(0, AGREEING_RECORDS)
  const width = first[0]?.cells.length ?? 0
  if (width < 2 || first.length < LEAST_RECORDS) return false
  if (head.lines.some((line) => line.length > PROSE_CHARS * width)) return false
  const agreeing = first.filter(({ cells }) => cells.length === width).length
  if (agreeing < first.length * AGREEING_SHARE) return false
  // Prose with one comma a line looks like two columns: cells of a table are short and seldom begin
  // with a space.
  const cells = first.flatMap((record) => record.cells)
  const spaced = cells.filter((cell) => cell.startsWith(' ')).length
  return (
    spaced < cells.length / 4 ||
    first.slice(1).some((record) => record.cells.some((cell) => NUMERIC.test(cell.trim())))
  )
}

class CsvSurvey implements KindSurvey {
  readonly #delimiter: Delimiter
  readonly #records: readonly TableRecord[]
  readonly #counter: RecordCounter

  constructor(delimiter: Delimiter, records: readonly TableRecord[]) {
    this.#delimiter = delimiter
    this.#records = records
    this.#counter = new RecordCounter(delimiter)
  }

  push(piece: Buffer): void {
    this.#counter.push(piece)
  }

  end(whole: TextWhole): Reading {
    const total = this.#counter.total
    const header = headerOf(this.#records)
    const width = this.#records[0]?.cells.length ?? 0
    const rows = header === undefined ? this.#records : this.#records.slice(1)
    const ragged = rows.filter(({ cells }) => cells.length !== width)
    const facts = [
      `records=${header === undefined ? total : total - 1}`,
      `columns=${width}`,
      `delimiter=${DELIMITER_NAMES[this.#delimiter]}`,
      header === undefined ? 'header=none' : 'header=line 1',
    ]
    if (ragged.length > 0) facts.push(`ragged=${ragged.length}`)
    const names = header ?? this.#records[0]?.cells.map((_, index) => `${index + 1}`) ?? []
    const scope = whole.head.isWhole ? '' : ` in the first ${rows.length} records`
    const columns = columnLines(names, rows).map((text) => ({
      text: text + scope,
      rank: RANK_COLUMNS,
    }))
    return { facts, lines: [...columns, ...rowLines(rows, ragged), ...lastLine(whole, rows)] }
  }
}

function columnLines(names: readonly string[], rows: readonly TableRecord[]): readonly string[] {
  const columns = new Columns(names)
  for (const { cells } of rows) columns.add(cells)
  return columns.lines()
}

/** The first record, and records of another width. */
function rowLines(
  rows: readonly TableRecord[],
  ragged: readonly TableRecord[],
): readonly PreviewLine[] {
  const first = rows.slice(0, 1).map((row) => ({ text: recordLine(row), rank: RANK_FIRST }))
  const odd = ragged.slice(0, RAGGED_SHOWN).map((row) => ({
    text: `${recordLine(row)} (${row.cells.length} cells)`,
    rank: RANK_RAGGED,
  }))
  return [...first, ...odd]
}

/** The last record; of a long table the last line, whose record may have begun before it. */
function lastLine(
  { head, tail, tailFrom, lines }: TextWhole,
  rows: readonly TableRecord[],
): readonly PreviewLine[] {
  if (head.isWhole) {
    return rows
      .slice(1)
      .slice(-1)
      .map((row) => ({ text: recordLine(row), rank: RANK_LAST }))
  }
  const end = tail.findLast((line) => line !== '')
  if (end === undefined) return []
  const number = Math.min(lines, tailFrom + tail.lastIndexOf(end))
  return [{ text: `line ${number}: ${excerpt(end, RECORD_BYTES).text}`, rank: RANK_LAST }]
}

const DELIMITER_NAMES: Readonly<Record<Delimiter, string>> = {
  ',': 'comma',
  '\t': 'tab',
  ';': 'semicolon',
  '|': 'bar',
}

/**
 * The names of the columns: the first record, when none of it is a number or empty and what follows
 * differs from it.
 */
function headerOf(records: readonly TableRecord[]): readonly string[] | undefined {
  const [first, ...rest] = records
  if (first === undefined || rest.length === 0) return undefined
  const isNamed = first.cells.every((cell) => cell.trim() !== '' && !NUMERIC.test(cell.trim()))
  const isDistinct = new Set(first.cells).size === first.cells.length
  return isNamed && isDistinct ? first.cells : undefined
}

function recordLine({ cells, line }: TableRecord): string {
  const parts: string[] = []
  let room = RECORD_BYTES
  for (const cell of cells) {
    const { text } =
      NUMERIC.test(cell) && cell.length < CELL_BYTES
        ? { text: cell }
        : excerpt(cell, Math.min(CELL_BYTES, room))
    room -= Buffer.byteLength(text) + 2
    if (room < 0) {
      parts.push(MARK)
      break
    }
    parts.push(text)
  }
  return `line ${line}: ${parts.join(', ')}`
}
