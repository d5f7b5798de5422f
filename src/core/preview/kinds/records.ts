/**
 * Reads records of a table, with quotes as in RFC 4180: cells may hold delimiters, doubled quotes
 * and line ends.
 */

export const DELIMITERS = [',', '\t', ';', '|'] as const
export type Delimiter = (typeof DELIMITERS)[number]

/** A record with the number of its first line. */
export interface TableRecord {
  readonly cells: readonly string[]
  /** From 1. */
  readonly line: number
}

/** Records that end within `lines`. Empty lines are no records. */
export function* recordsOf(lines: readonly string[], delimiter: Delimiter): Generator<TableRecord> {
  const reader = new RecordReader(delimiter)
  let from = 1
  for (const [index, line] of lines.entries()) {
    const cells = reader.read(line)
    if (cells === undefined) continue
    if (cells.length > 1 || cells[0] !== '') yield { cells, line: from }
    from = index + 2
  }
}

/** Puts records together, line by line. */
class RecordReader {
  readonly #delimiter: Delimiter
  #cells: string[] = []
  #cell = ''
  #isQuoted = false

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter
  }

  /** Returns the record that ends with this line, or undefined inside of a quoted cell. */
  read(line: string): readonly string[] | undefined {
    if (this.#isQuoted) this.#cell += '\n'
    let at = 0
    while (at <= line.length) {
      if (this.#isQuoted) at = this.#quoted(line, at)
      else if (this.#cell === '' && line[at] === '"') {
        this.#isQuoted = true
        at++
      } else at = this.#plain(line, at)
    }
    if (this.#isQuoted) return undefined
    const cells = this.#cells
    this.#cells = []
    return cells
  }

  /** Reads the inside of quotes. Returns the position after them, or past the end of the line. */
  #quoted(line: string, at: number): number {
    const close = line.indexOf('"', at)
    if (close < 0) {
      this.#cell += line.slice(at)
      return line.length + 1
    }
    this.#cell += line.slice(at, close)
    if (line[close + 1] === '"') {
      this.#cell += '"'
      return close + 2
    }
    this.#isQuoted = false
    return close + 1
  }

  /** Reads up to the next delimiter. Returns the position after it, or past the end of the line. */
  #plain(line: string, at: number): number {
    const next = line.indexOf(this.#delimiter, at)
    const end = next < 0 ? line.length : next
    this.#cells.push(this.#cell + line.slice(at, end))
    this.#cell = ''
    return end + 1
  }
}

const QUOTE = 0x22
const LF = 0x0a
const CR = 0x0d

/**
 * Counts records of a table that comes in pieces, by the rules of {@link recordsOf}: a quote opens
 * a quoted cell only at the start of a cell.
 */
export class RecordCounter {
  readonly #delimiter: number
  #count = 0
  #isQuoted = false
  #isCellStart = true
  #isEmptyLine = true

  constructor(delimiter: Delimiter) {
    this.#delimiter = delimiter.charCodeAt(0)
  }

  /** Records so far; the last one may have no line end. */
  get total(): number {
    return this.#count + (this.#isEmptyLine ? 0 : 1)
  }

  push(piece: Buffer): void {
    for (const byte of piece) {
      if (this.#isQuoted) {
        // A doubled quote closes the cell and opens it again at once.
        if (byte === QUOTE) this.#isQuoted = false
        this.#isCellStart = byte === QUOTE
      } else this.#plain(byte)
    }
  }

  #plain(byte: number): void {
    if (byte === LF) {
      if (!this.#isEmptyLine) this.#count++
      this.#isEmptyLine = true
      this.#isCellStart = true
    } else if (byte === QUOTE && this.#isCellStart) {
      this.#isQuoted = true
      this.#isEmptyLine = false
    } else if (byte !== CR || !this.#isEmptyLine) {
      this.#isCellStart = byte === this.#delimiter
      if (byte !== CR) this.#isEmptyLine = false
    }
  }
}
