/**
 * Reads recall requests. A request is a model's tool call, so its spelling is read leniently where
 * its meaning is clear: whole numbers in strings; null, `""` and `{start: 0, end: 0}` as absent;
 * unknown members, which are listed. Anything else is an `invalid_range`. Lines are 1-based and
 * inclusive, characters 0-based and half-open.
 */
import { CoatcheckError } from '../errors.ts'
import { distinctMembersOf, type JsonSlice } from '../json/slice.ts'
import { decodeRaw, decodeText } from '../json/strings.ts'

const WHOLE_NUMBER = /^\s*([+-]?[0-9]+)(?:\.0*)?\s*$/
const MEMBERS: readonly string[] = ['id', 'range', 'chars']
const ENDS: readonly string[] = ['start', 'end']

export interface Span {
  readonly start: number
  readonly end: number
}

/** A request. Both ends are as given; null where absent. */
export interface RecallRequest {
  readonly id: string
  readonly unit: 'lines' | 'chars'
  readonly start: number | null
  readonly end: number | null
  /** Members without a meaning, as `name` or `range.name`. */
  readonly ignored: readonly string[]
}

export interface ViewSize {
  readonly totalLines: number
  readonly totalChars: number
}

/** A range within the view: lines (1-based, inclusive) or characters (0-based, half-open). */
export interface Asked extends Span {
  readonly unit: 'lines' | 'chars'
}

/**
 * Reads the arguments of a recall. When both `range` and `chars` are given, `chars` counts. Throws
 * `invalid_request` or `invalid_range`.
 *
 * @example parseRecall(json('{"id": "t", "x": 1}')).ignored // ['x']
 */
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
    // {start: 0} alone means the first character; lines start at 1, so there it means nothing.
    return start === null || end !== null || name === 'range' ? null : { start, end: null }
  }
  return { start, end: end === 0 ? null : end }
}

function readNumber(name: string, value: JsonSlice | undefined): number | null {
  if (value === undefined || value.kind === 'null') return null
  const text = value.kind === 'string' ? decodeText(value) : value.toString()
  if (text === '') return null
  const digits = wholeNumber(text)
  if (digits === undefined) {
    throw new CoatcheckError(
      'invalid_range',
      `"${name}" must be a whole number; it is ${clipped(text)}.`,
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

/**
 * The range of the view that a request asks for. Ends past the view are clamped. Throws
 * `invalid_range` with the size of the view.
 *
 * @example boundRecall(parseRecall(json('{"id":"t"}')), { totalLines: 2, totalChars: 4 }) // { unit: 'lines', start: 1, end: 2 }
 */
export function boundRecall(request: RecallRequest, size: ViewSize): Asked {
  const { unit, start, end } = request
  const [first, last] = unit === 'lines' ? [1, size.totalLines] : [0, size.totalChars]
  if (start === null && end === null) return { unit, start: first, end: last }
  const from = start ?? first
  const until = end ?? last
  const wrong =
    negative('a start', from) ??
    negative('an end', until) ??
    (unit === 'lines' ? wrongLines(from, end, last) : wrongChars(from, end, last))
  if (wrong !== undefined) throw outOfRange(unit, size, wrong)
  return { unit, start: from, end: Math.min(until, last) }
}

const negative = (what: string, value: number): string | undefined =>
  value < 0 ? `${what} of ${value} is negative` : undefined

function wrongLines(start: number, end: number | null, last: number): string | undefined {
  if (start === 0) return 'a start of 0 is before the first line'
  if (end !== null && end < start) return `an end of ${end} is before a start of ${start}`
  return start > last ? `a start of ${start} is past the end` : undefined
}

function wrongChars(start: number, end: number | null, total: number): string | undefined {
  if (end !== null && end <= start) return `an end of ${end} is not after a start of ${start}`
  return start >= total ? `a start of ${start} is past the end` : undefined
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
