/**
 * Tables: values separated by comma, tab, semicolon or bar, with quotes as in RFC 4180. Records are counted over the whole
 * text, line ends inside quotes included; columns are told from the start of it.
 */
import { excerpt, nameExcerpt } from '../excerpt.ts'
import { Columns } from './columns.ts'
import type { Kind, KindSurvey, Reading, TextHead, TextWhole } from './kind.ts'

const QUOTE = 0x22
const LF = 0x0a
const CR = 0x0d
const DELIMITERS = [',', '\t', ';', '|'] as const
/** Records at the start that must agree. */
const AGREEING_RECORDS = 20
const AGREEING_SHARE = 0.9
const LEAST_RECORDS = 3
const CELL_BYTES = 48
const RECORD_BYTES = 160
const PROSE_CHARS = 400
const NUMERIC = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/
const RANK_COLUMNS = 0
const RANK_FIRST = 10
const RANK_LAST = 11
const RANK_RAGGED = 5

export type Delimiter = (typeof DELIMITERS)[number]

/** A record with the number of its first line. */
export interface TableRecord {
  readonly cells: readonly string[]
  /** From 1. */
  readonly line: number
}

/** CSV, TSV and their relatives. */
export const csv: Kind = {
  name: 'csv',
  recognize(head) {
    for (const delimiter of DELIMITERS) {
      const records = [...recordsOf(head, delimiter)]
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
  // Prose with one comma a line looks like two columns: cells of a table are short and seldom begin with a space.
  const cells = first.flatMap((record) => record.cells)
  const spaced = cells.filter((cell) => cell.startsWith(' ')).length
  return spaced < cells.length / 4 || first.slice(1).some((record) => record.cells.some((cell) => NUMERIC.test(cell.trim())))
}

/** Records of the head that are there to their end; the last of a longer text may not be. */
export function* recordsOf(head: TextHead, delimiter: Delimiter): Generator<TableRecord> {
  let cells: string[] = []
  let cell = ''
  let isQuoted = false
  let from = 1
  for (const [index, line] of head.lines.entries()) {
    let at = 0
    if (isQuoted) cell += '\n'
    for (;;) {
      if (isQuoted) {
        const close = line.indexOf('"', at)
        if (close < 0) {
          cell += line.slice(at)
          break
        }
        cell += line.slice(at, close)
        at = close + 1
        if (line[at] === '"') {
          cell += '"'
          at++
        } else isQuoted = false
        continue
      }
      if (cell === '' && line[at] === '"') {
        isQuoted = true
        at++
        continue
      }
      const next = line.indexOf(delimiter, at)
      cell += line.slice(at, next < 0 ? line.length : next)
      if (next < 0) break
      cells.push(cell)
      cell = ''
      at = next + 1
    }
    if (isQuoted) continue
    const isEmpty = cells.length === 0 && cell === ''
    if (!isEmpty) yield { cells: [...cells, cell], line: from }
    cells = []
    cell = ''
    from = index + 2
  }
}

class CsvSurvey implements KindSurvey {
  readonly #delimiter: Delimiter
  readonly #records: readonly TableRecord[]
  #count = 0
  #isQuoted = false
  #isEmptyLine = true

  constructor(delimiter: Delimiter, records: readonly TableRecord[]) {
    this.#delimiter = delimiter
    this.#records = records
  }

  /** Counts ends of records: line ends outside of quotes, but for empty lines. */
  push(piece: Buffer): void {
    let isQuoted = this.#isQuoted
    let isEmptyLine = this.#isEmptyLine
    let count = 0
    for (const byte of piece) {
      if (byte === QUOTE) {
        isQuoted = !isQuoted
        isEmptyLine = false
      } else if (byte === LF) {
        if (isQuoted) continue
        if (!isEmptyLine) count++
        isEmptyLine = true
      } else if (byte !== CR) isEmptyLine = false
    }
    this.#count += count
    this.#isQuoted = isQuoted
    this.#isEmptyLine = isEmptyLine
  }

  end({ head, tail, tailFrom, lines: totalLines }: TextWhole): Reading {
    const total = this.#count + (this.#isEmptyLine ? 0 : 1)
    const header = headerOf(this.#records)
    const width = this.#records[0]?.cells.length ?? 0
    const rows = header === undefined ? this.#records : this.#records.slice(1)
    const columns = new Columns(header ?? rows[0]?.cells.map((_, index) => `${index + 1}`) ?? [])
    for (const { cells } of rows) columns.add(cells)
    const ragged = rows.filter(({ cells }) => cells.length !== width)
    const facts = [
      `records=${header === undefined ? total : total - 1}`,
      `columns=${width}`,
      `delimiter=${DELIMITER_NAMES[this.#delimiter]}`,
      header === undefined ? 'header=none' : 'header=line 1',
    ]
    if (ragged.length > 0) facts.push(`ragged=${ragged.length}`)
    const scope = head.isWhole ? '' : ` in the first ${rows.length} records`
    const lines = columns.lines().map((text) => ({ text: text + scope, rank: RANK_COLUMNS }))
    const first = rows[0]
    if (first !== undefined) lines.push({ text: recordLine(first), rank: RANK_FIRST })
    for (const record of ragged.slice(0, 2)) {
      lines.push({ text: `${recordLine(record)} (${record.cells.length} cells)`, rank: RANK_RAGGED })
    }
    const last = head.isWhole ? rows.at(-1) : undefined
    if (last !== undefined && last !== first) lines.push({ text: recordLine(last), rank: RANK_LAST })
    const end = tail.findLast((line) => line !== '')
    if (!head.isWhole && end !== undefined) {
      const number = Math.min(totalLines, tailFrom + tail.lastIndexOf(end))
      lines.push({ text: `line ${number}: ${excerpt(end, RECORD_BYTES).text}`, rank: RANK_LAST })
    }
    return { facts, lines }
  }
}

const DELIMITER_NAMES: Readonly<Record<Delimiter, string>> = {
  ',': 'comma',
  '\t': 'tab',
  ';': 'semicolon',
  '|': 'bar',
}

/** The names of the columns: the first record, when none of it is a number or empty and what follows differs from it. */
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
    const { text } = NUMERIC.test(cell) && cell.length < CELL_BYTES ? { text: cell } : excerpt(cell, Math.min(CELL_BYTES, room))
    room -= Buffer.byteLength(text) + 2
    if (room < 0) {
      parts.push('…')
      break
    }
    parts.push(text)
  }
  return `line ${line}: ${parts.join(', ')}`
}

/** A column's name, as the preview writes it. */
export function columnName(name: string): string {
  return nameExcerpt(name.trim(), CELL_BYTES).text
}
