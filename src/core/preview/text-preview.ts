/**
 * The preview of a text in the extended format. The text goes by in pieces, from memory or from a
 * stream: its start decides the kind, all of it is counted, and lines that tell how things went are
 * found wherever they stand. Time is linear in the text, memory bounded.
 */
import { jsonOf } from '../json/json-of.ts'
import { outlineOf } from '../json/scan.ts'
import type { JsonSlice } from '../json/slice.ts'
import { countLines, sumText } from '../text.ts'
import { excerpt } from './excerpt.ts'
import { describeJson, wholeLine } from './json/preview-json.ts'
import { csv } from './kinds/csv.ts'
import { diagnostics } from './kinds/diagnostics.ts'
import { diff } from './kinds/diff.ts'
import { jsonLines } from './kinds/json-lines.ts'
import {
  DETAIL_BYTES,
  type Kind,
  type KindSurvey,
  PATTERN_CHARS,
  TAIL_BYTES,
  type TextHead,
  type TextWhole,
} from './kinds/kind.ts'
import { log } from './kinds/log.ts'
import { NotableLines, WEIGHTS } from './kinds/notable.ts'
import { outlines } from './kinds/outline.ts'
import { cleanLine, isTerminal } from './kinds/terminal.ts'
import { tests } from './kinds/tests.ts'
import { trace } from './kinds/trace.ts'
import { composeLines, headerOf, type PreviewLine } from './lines.ts'
import { humanBytes } from './preview.ts'

/** The first that recognizes a text counts. */
const KINDS: readonly Kind[] = [diff, trace, diagnostics, jsonLines, tests, log, csv, ...outlines]
const LF = 0x0a
const SPACE = 0x20
/** Brackets that begin an array or an object. */
const OPENING: readonly number[] = [0x5b, 0x7b]
const LINE_NUMBER = /^line (\d+):/
const LINE_BYTES = 200
const RANK_NOTABLE = 100
const RANK_ENDS = 300
const END_LINES = 8
const MINIFIED_LINE_BYTES = 1_000

/** Preview of one text that goes by in pieces. The limit is in bytes of UTF-8. */
export class TextPreview {
  readonly #limitBytes: number
  readonly #notable = new NotableLines()
  #head: Buffer[] = []
  #headBytes = 0
  #reading:
    | {
        readonly kind: Kind | undefined
        readonly survey: KindSurvey | undefined
        readonly head: TextHead
      }
    | undefined
  #tail: Buffer = Buffer.alloc(0)
  #bytes = 0
  #lineEnds = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The next bytes of the text: valid UTF-8 when joined. They are copied where they are kept. */
  push(piece: Buffer): void {
    this.#bytes += piece.length
    this.#lineEnds += sumText(piece).newlines
    this.#notable.push(piece)
    this.#keepTail(piece)
    // The head is cut at one place, however the text comes.
    const rest = this.#reading === undefined ? this.#takeHead(piece) : piece
    if (rest.length > 0) this.#reading?.survey?.push(rest)
  }

  #takeHead(piece: Buffer): Buffer {
    const taken = Math.min(piece.length, DETAIL_BYTES - this.#headBytes)
    this.#head.push(Buffer.from(piece.subarray(0, taken)))
    this.#headBytes += taken
    if (this.#headBytes === DETAIL_BYTES) this.#recognize(false)
    return piece.subarray(taken)
  }

  /** Ends the text. Returns the preview after its handle, within the limit. */
  end(): string {
    this.#notable.end()
    if (this.#reading === undefined) this.#recognize(true)
    const reading = this.#reading
    const head = reading?.head ?? {
      bytes: Buffer.alloc(0),
      lines: [],
      starts: [],
      isWhole: true,
      isTerminal: false,
    }
    const lines = this.#bytes > 0 && this.#tail.at(-1) !== LF ? this.#lineEnds + 1 : this.#lineEnds
    const whole = this.#wholeText(head, lines)
    if (whole !== undefined) return whole
    const tail = this.#tailLines(lines)
    const text: TextWhole = {
      head,
      ...tail,
      bytes: this.#bytes,
      lines,
      limitBytes: this.#limitBytes,
    }
    const told = reading?.survey?.end(text) ?? { facts: [], lines: [] }
    const facts = [`len=${humanBytes(this.#bytes)}`, `lines=${lines}`]
    if (reading?.kind !== undefined) facts.push(`kind=${reading.kind.name}`)
    if (head.isTerminal) facts.push('terminal')
    if (isMinified(head, lines)) facts.push('minified')
    const all = distinctLines([...told.lines, ...this.#notableLines(), ...endLines(text)])
    const header = { kind: 'text', facts: [...facts, ...told.facts, ...this.#notableFacts()] }
    return composeLines({ ...header, lines: all, whole: false }, this.#limitBytes)
  }

  #recognize(isWhole: boolean): void {
    const bytes = Buffer.concat(this.#head)
    const end = isWhole ? bytes.length : bytes.lastIndexOf(LF) + 1 || bytes.length
    const text = bytes.toString('utf8', 0, end)
    const lines = linesOf(text)
    const isShown = isTerminal(lines)
    const shown = isShown ? lines.map(cleanLine) : lines
    const head: TextHead = {
      bytes: bytes.subarray(0, end),
      lines: shown,
      starts: shown.map((line) => line.slice(0, PATTERN_CHARS)),
      isWhole,
      isTerminal: isShown,
    }
    for (const kind of KINDS) {
      const survey = kind.recognize(head)
      if (survey === undefined) continue
      this.#reading = { kind, survey, head }
      break
    }
    this.#reading ??= { kind: undefined, survey: undefined, head }
    this.#reading.survey?.push(bytes)
    this.#head = []
  }

  #keepTail(piece: Buffer): void {
    const joined = piece.length >= TAIL_BYTES ? piece : Buffer.concat([this.#tail, piece])
    this.#tail = Buffer.from(joined.subarray(Math.max(0, joined.length - TAIL_BYTES)))
  }

  #tailLines(lines: number): { readonly tail: readonly string[]; readonly tailFrom: number } {
    const start = this.#bytes > this.#tail.length ? this.#tail.indexOf(LF) + 1 : 0
    const text = this.#tail.toString('utf8', start)
    const tail = linesOf(text).map(cleanLine)
    return { tail, tailFrom: lines - tail.length + 1 }
  }

  #wholeText(head: TextHead, lines: number): string | undefined {
    if (!head.isWhole || head.bytes.length > this.#limitBytes) return undefined
    const header = ` = text(len=${humanBytes(this.#bytes)}, lines=${lines})`
    const { text, whole } = excerpt(head.bytes.toString(), this.#limitBytes - header.length - 1)
    return whole ? `${header} ${text}` : undefined
  }

  #notableFacts(): readonly string[] {
    return WEIGHTS.filter((weight) => weight !== 'outcome' && this.#notable.count(weight) > 0).map(
      (weight) => `${weight} lines=${this.#notable.count(weight)}`,
    )
  }

  #notableLines(): readonly PreviewLine[] {
    const lines = WEIGHTS.flatMap((weight, heavy) =>
      this.#notable
        .lines(weight)
        .map((line, index) => ({ ...line, rank: RANK_NOTABLE + heavy * 20 + index })),
    )
    return lines
      .toSorted((a, b) => a.number - b.number)
      .map(({ number, text, count, rank }) => ({
        text: `line ${number}: ${excerpt(text, LINE_BYTES).text}${count > 1 ? ` ×${count}` : ''}`,
        rank,
      }))
  }
}

/** The first and the last lines, which stand where room is left. */
function endLines({ head, tail, tailFrom }: TextWhole): readonly PreviewLine[] {
  const first = head.lines.slice(0, END_LINES).map((text, index) => ({ text, number: index + 1 }))
  const last = tail.slice(-END_LINES).map((text, index) => ({
    text,
    number: tailFrom + Math.max(0, tail.length - END_LINES) + index,
  }))
  const lines = [...first, ...last.filter(({ number }) => number > first.length)]
  return lines
    .filter(({ text }) => text.trim() !== '')
    .map(({ text, number }, index) => ({
      text: `line ${number}: ${excerpt(text, LINE_BYTES).text}`,
      rank: RANK_ENDS + (number <= first.length ? index : lines.length - index - 1),
    }))
}

/**
 * Each line of the text once, as the first in the list has it; lists and places first, then lines
 * by their numbers.
 */
function distinctLines(lines: readonly PreviewLine[]): readonly PreviewLine[] {
  const byNumber = new Map<number, PreviewLine>()
  const others: PreviewLine[] = []
  for (const line of lines) {
    const number = Number(LINE_NUMBER.exec(line.text)?.[1] ?? 0)
    if (number === 0) others.push(line)
    else {
      const known = byNumber.get(number)
      byNumber.set(
        number,
        known === undefined || known.rank <= line.rank
          ? (known ?? line)
          : { ...known, rank: line.rank },
      )
    }
  }
  return [...others, ...[...byNumber].toSorted((a, b) => a[0] - b[0]).map(([, line]) => line)]
}

function linesOf(text: string): readonly string[] {
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
  return lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
}

/** Lines so long that nobody wrote them by hand. */
function isMinified({ bytes }: TextHead, lines: number): boolean {
  return (
    bytes.length > MINIFIED_LINE_BYTES &&
    bytes.length / Math.max(1, Math.min(lines, countLines(bytes))) > MINIFIED_LINE_BYTES
  )
}

/**
 * The preview of a text that is all there. A text that is a JSON array or object is shown as that.
 *
 * @example previewExtendedText(bytes('hello'), 1000) // ' = text(len=5B, lines=1) "hello"'
 */
export function previewExtendedText(text: Buffer, limitBytes: number): string {
  const json = OPENING.includes(text.find((byte) => byte > SPACE) ?? 0) ? jsonOf(text) : undefined
  if (json !== undefined && (json.kind === 'array' || json.kind === 'object'))
    return previewJsonText(text, json, limitBytes)
  const preview = new TextPreview(limitBytes)
  preview.push(text)
  return preview.end()
}

function previewJsonText(text: Buffer, json: JsonSlice, limitBytes: number): string {
  const { entries, size } = outlineOf(json)
  const count = json.kind === 'array' ? `kind=array, len=${entries}` : `kind=json, keys=${size}`
  const facts = [`len=${humanBytes(text.length)}`, `lines=${countLines(text)}`, count]
  const header = headerOf({ kind: 'text', facts }, limitBytes)
  const whole = wholeLine(json, limitBytes - Buffer.byteLength(header) - 1)
  if (whole !== undefined) return `${header} ${whole}`
  return composeLines(
    { kind: 'text', facts, lines: describeJson(json, limitBytes), whole: false },
    limitBytes,
  )
}
