/**
 * Recall: a page of a result's text view, by lines or by chars, as the exact slice it is; joined pages are the whole.
 *
 * The request comes from a model, by way of a provider: what is sloppy but plain is read (whole numbers in strings, null,
 * `""` and `{0, 0}` as absent, unknown members, which are listed); what would mean something else is an `invalid_range`.
 * Lines are 1-based and inclusive, chars 0-based and half-open. A page is never longer than its limit.
 */
import { CoatcheckError } from './errors.ts'
import { distinctMembersOf, type JsonSlice } from './json/slice.ts'
import { decodeRaw, decodeText } from './json/strings.ts'
import { escapeId } from './names.ts'
import { advanceChars, countChars, measureText } from './text.ts'

const LF = 0x0a
const WHOLE_NUMBER = /^\s*([+-]?[0-9]+)(?:\.0*)?\s*$/
const MEMBERS: readonly string[] = ['id', 'range', 'chars']
const ENDS: readonly string[] = ['start', 'end']

export interface Span {
  readonly start: number
  readonly end: number
}

/** What is asked for; both ends as given, null where absent. */
export interface RecallRequest {
  readonly id: string
  readonly unit: 'lines' | 'chars'
  readonly start: number | null
  readonly end: number | null
  /** Members that mean nothing here, as `name` or `range.name`. */
  readonly ignored: readonly string[]
}

export interface ViewSize {
  readonly totalLines: number
  readonly totalChars: number
}

/** A part of the view: lines (1-based, inclusive) or chars (0-based, half-open), within the view. */
export interface Asked extends Span {
  readonly unit: 'lines' | 'chars'
}

export interface RecallPage {
  readonly content: string
  /** The lines it holds, whole or in part; null when it is empty. */
  readonly lines: Span | null
  readonly chars: Span
  /** Where it goes on; for `chars` after a page of lines the end is still to be found: null. */
  readonly next: {
    readonly unit: 'lines' | 'chars'
    readonly start: number
    readonly end: number | null
  } | null
}

/** Reads the arguments of a recall; of a range and chars together, the chars count. Throws `invalid_request` or `invalid_range`. */
export function parseRecall(body: JsonSlice): RecallRequest {
  if (body.kind !== 'object') {
    throw new CoatcheckError(
      'invalid_request',
      'The body must be a JSON object such as {"id": "r1"}.',
    )
  }
  const members = distinctMembersOf(body)
  const ignored = [...members.keys()].filter((name) => !MEMBERS.includes(name))
  const id = members.get('id')?.value
  if (id?.kind !== 'string' || id.end - id.start === 2) {
    throw new CoatcheckError(
      'invalid_request',
      'Give the evidence id to recall as a non-empty string: {"id": "r1"}.',
    )
  }
  const lines = readSpan('range', members.get('range')?.value, ignored)
  const chars = readSpan('chars', members.get('chars')?.value, ignored)
  if (lines !== null && chars !== null) ignored.push('range')
  const span = chars ?? lines ?? { start: null, end: null }
  const shown = ignored.map((name) => name.toWellFormed())
  return { id: decodeRaw(id), unit: chars === null ? 'lines' : 'chars', ...span, ignored: shown }
}

function readSpan(
  name: string,
  value: JsonSlice | undefined,
  ignored: string[],
): { start: number | null; end: number | null } | null {
  if (value === undefined || value.kind === 'null' || value.toString() === '""') return null
  if (value.kind !== 'object') {
    throw new CoatcheckError(
      'invalid_range',
      `"${name}" must be an object: {"start": 1, "end": 100}.`,
    )
  }
  const members = distinctMembersOf(value)
  for (const member of members.keys()) {
    if (!ENDS.includes(member)) ignored.push(`${name}.${member}`)
  }
  const start = readNumber(`${name}.start`, members.get('start')?.value)
  const end = readNumber(`${name}.end`, members.get('end')?.value)
  if ((start === null || start === 0) && (end === null || end === 0)) {
    // {start: 0} alone means from the start in chars, and nothing to lines but their start.
    return start === null || end !== null || name === 'range' ? null : { start, end: null }
  }
  return { start, end: end === 0 ? null : end }
}

function readNumber(name: string, value: JsonSlice | undefined): number | null {
  if (value === undefined || value.kind === 'null') return null
  const text = value.kind === 'string' ? decodeText(value) : value.toString()
  if (text === '') return null
  const digits = value.kind === 'number' || value.kind === 'string' ? wholeNumber(text) : undefined
  if (digits === undefined) {
    throw new CoatcheckError(
      'invalid_range',
      `"${name}" must be a whole number; it is ${clipped(text)}.`,
    )
  }
  if (digits < 0) {
    throw new CoatcheckError(
      'invalid_range',
      `"${name}" must not be negative; it is ${clipped(text)}.`,
    )
  }
  return digits
}

function wholeNumber(text: string): number | undefined {
  const digits = WHOLE_NUMBER.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const number = /^-?[0-9.]+[eE][+-]?[0-9]+$/.test(text) ? Number(text) : Number.NaN
  return Number.isInteger(number) || Math.abs(number) === Number.POSITIVE_INFINITY
    ? number
    : undefined
}

const SAMPLE_CHARS = 40
const clipped = (text: string): string =>
  JSON.stringify(
    text.length > SAMPLE_CHARS ? `${text.slice(0, SAMPLE_CHARS).toWellFormed()}…` : text,
  )

/** The part of the view that a request means; ends clamp. Throws `invalid_range`, which says how much there is. */
export function boundRecall(request: RecallRequest, size: ViewSize): Asked {
  const { unit, start, end } = request
  const [first, last] = unit === 'lines' ? [1, size.totalLines] : [0, size.totalChars]
  if (start === null && end === null) return { unit, start: first, end: last }
  const from = start ?? first
  const until = end ?? last
  if (from < first) throw outOfRange(unit, size, 'a start of 0 is before the first line')
  if (end !== null && (unit === 'lines' ? end < from : end <= from)) {
    const order = unit === 'lines' ? 'before' : 'not after'
    throw outOfRange(unit, size, `an end of ${end} is ${order} a start of ${from}`)
  }
  if (unit === 'lines' ? from > last : from >= last) {
    throw outOfRange(unit, size, `a start of ${from} is past the end`)
  }
  return { unit, start: from, end: Math.min(until, last) }
}

function outOfRange(
  unit: 'lines' | 'chars',
  { totalLines, totalChars }: ViewSize,
  what: string,
): CoatcheckError {
  const rule =
    unit === 'lines'
      ? `Lines are numbered from 1, both ends included; there are ${totalLines}`
      : `Chars are numbered from 0, the end excluded; there are ${totalChars}`
  return new CoatcheckError('invalid_range', `${rule}, and ${what}.`, {
    total_lines: totalLines,
    total_chars: totalChars,
  })
}

/** A stretch of the view, from a known place on. */
export interface ViewPart {
  readonly bytes: Buffer
  /** How many line ends and chars of the view come before. */
  readonly firstLine: number
  readonly firstChar: number
  /** The view ends with it. */
  readonly last: boolean
}

export interface PageLimit {
  readonly maxChars: number
  /** What the note on a page that does not end its range takes of `maxChars`. */
  readonly noteChars: number
}

/** The page at the start of `asked`, or undefined when `part` does not reach far enough to cut it. */
export function cutPage(part: ViewPart, asked: Asked, limit: PageLimit): RecallPage | undefined {
  const start = startOf(part, asked)
  if (start === undefined) return undefined
  const askedEnd = endOf(part, asked, start)
  const wholeEnd = advanceChars(part.bytes, { start, chars: limit.maxChars })
  if (askedEnd !== undefined && askedEnd <= wholeEnd) return pageOf(part, start, askedEnd, null)
  if (askedEnd === undefined && !part.last && wholeEnd === part.bytes.length) return undefined
  const hard = advanceChars(part.bytes, { start, chars: limit.maxChars - limit.noteChars })
  const lineEnd = part.bytes.lastIndexOf(LF, hard - 1) + 1
  return pageOf(part, start, lineEnd > start ? lineEnd : hard, asked)
}

function startOf(part: ViewPart, asked: Asked): number | undefined {
  if (asked.unit === 'lines') return afterNewlines(part, asked.start - 1 - part.firstLine, 0)
  const pos = advanceChars(part.bytes, { chars: asked.start - part.firstChar })
  return pos < part.bytes.length || part.last ? pos : undefined
}

function endOf(part: ViewPart, asked: Asked, start: number): number | undefined {
  if (asked.unit === 'lines') {
    const end = afterNewlines(part, asked.end - asked.start + 1, start)
    return end ?? (part.last ? part.bytes.length : undefined)
  }
  const pos = advanceChars(part.bytes, { start, chars: asked.end - asked.start })
  return pos < part.bytes.length ||
    part.last ||
    countChars(part.bytes, start, pos) === asked.end - asked.start
    ? pos
    : undefined
}

/** Where the line after `count` more line ends starts; undefined when they are not all there. */
function afterNewlines(part: ViewPart, count: number, from: number): number | undefined {
  let pos = from
  for (let n = 0; n < count; n++) {
    const lf = part.bytes.indexOf(LF, pos)
    if (lf < 0) return undefined
    pos = lf + 1
  }
  return pos
}

/** `asked` when the page does not end it. */
function pageOf(part: ViewPart, start: number, end: number, asked: Asked | null): RecallPage {
  const before = measureText(part.bytes, 0, start)
  const inside = measureText(part.bytes, start, end)
  const firstChar = part.firstChar + before.chars
  const chars = { start: firstChar, end: firstChar + inside.chars }
  const firstLine = part.firstLine + before.newlines + 1
  const wholeLines = end > start && part.bytes[end - 1] === LF
  const lastLine = firstLine + inside.newlines - (wholeLines ? 1 : 0)
  return {
    content: part.bytes.toString('utf8', start, end),
    lines: end > start ? { start: firstLine, end: lastLine } : null,
    chars,
    next: asked === null ? null : nextOf(asked, chars.end, lastLine, wholeLines),
  }
}

function nextOf(
  asked: Asked,
  charEnd: number,
  lastLine: number,
  wholeLines: boolean,
): RecallPage['next'] {
  if (asked.unit === 'chars') return { unit: 'chars', start: charEnd, end: asked.end }
  return wholeLines
    ? { unit: 'lines', start: lastLine + 1, end: asked.end }
    : { unit: 'chars', start: charEnd, end: null }
}

/** The literal body of the following call. */
export type RecallCall =
  | { readonly id: string; readonly range: Span }
  | { readonly id: string; readonly chars: Span }

/** The last line of a page that goes on; a line of its own. */
export function continuation(lines: Span, totalLines: number, next: RecallCall): string {
  const span = 'range' in next ? next.range : next.chars
  const unit = 'range' in next ? 'range' : 'chars'
  const call = `{"id": "${escapeId(next.id)}", "${unit}": {"start": ${span.start}, "end": ${span.end}}}`
  return `[lines ${lines.start}\u2013${lines.end} of ${totalLines}; recall ${call} continues]`
}

/** The most chars that {@link continuation} and the line end before it can take for a view of this size. */
export function continuationChars(id: string, { totalLines, totalChars }: ViewSize): number {
  const widest = { start: totalChars, end: totalChars }
  return (
    continuation({ start: totalLines, end: totalLines }, totalLines, { id, range: widest }).length +
    1
  )
}
