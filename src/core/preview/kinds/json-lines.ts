/**
 * JSON Lines: one JSON object or array a line. Records are counted over all lines; their shape is
 * told from the start.
 */
import { jsonOf } from '../../json/json-of.ts'
import { JsonSlice } from '../../json/slice.ts'
import { describeRows } from '../json/preview-json.ts'
import type { Kind, KindSurvey, Reading, TextHead, TextWhole } from './kind.ts'

const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const TAB = 0x09
const OPENING = [0x7b, 0x5b]
const HEAD_RECORDS = 10
const LEAST_SHARE = 0.8

export const jsonLines: Kind = {
  name: 'jsonl',
  recognize(head) {
    const sample = head.lines.slice(0, HEAD_RECORDS).filter((line) => line.trim() !== '')
    const records = sample.filter((line) => isRecord(Buffer.from(line)))
    const isLines = records.length >= 2 && records.length >= sample.length * LEAST_SHARE
    return isLines ? new JsonLinesSurvey(head) : undefined
  },
}

function isRecord(line: Buffer): boolean {
  const first = line.find((byte) => byte !== SPACE && byte !== TAB) ?? 0
  return OPENING.includes(first) && jsonOf(line) !== undefined
}

class JsonLinesSurvey implements KindSurvey {
  readonly #head: TextHead
  #records = 0
  #hasContent = false

  constructor(head: TextHead) {
    this.#head = head
  }

  push(piece: Buffer): void {
    let hasContent = this.#hasContent
    for (const byte of piece) {
      if (byte === LF) {
        if (hasContent) this.#records++
        hasContent = false
      } else if (byte !== CR && byte !== SPACE && byte !== TAB) hasContent = true
    }
    this.#hasContent = hasContent
  }

  end(whole: TextWhole): Reading {
    const records = this.#records + (this.#hasContent ? 1 : 0)
    const { bytes } = this.#head
    const rows: JsonSlice[] = []
    const broken: number[] = []
    const numbers: number[] = []
    let line = 0
    for (let start = 0; start < bytes.length; ) {
      line++
      const lineEnd = bytes.indexOf(LF, start)
      const end = lineEnd < 0 ? bytes.length : lineEnd
      const slice = trimmed(bytes, start, end)
      if (slice !== undefined) {
        if (jsonOf(slice.source) !== undefined) {
          rows.push(slice)
          numbers.push(line)
        } else broken.push(line)
      }
      start = end + 1
    }
    const facts = [`records=${records}`]
    if (broken.length > 0)
      facts.push(`broken=${broken.length}${this.#head.isWhole ? '' : '+'} (line ${broken[0]})`)
    if (!whole.head.isWhole) facts.push(`shape=of the first ${rows.length} records`)
    const nameOf = (row: number): string => `line ${numbers[row] ?? 0}`
    return { facts, lines: describeRows(bytes, rows, { limitBytes: whole.limitBytes, nameOf }) }
  }
}

function trimmed(bytes: Buffer, from: number, to: number): JsonSlice | undefined {
  let [start, end] = [from, to]
  while (start < end && (bytes[start] ?? 0) <= SPACE) start++
  while (end > start && (bytes[end - 1] ?? 0) <= SPACE) end--
  return start === end ? undefined : new JsonSlice(bytes, start, end)
}
