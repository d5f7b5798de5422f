/**
 * The text view of a value, in which windows, recall and totals count. A text is its own view, a
 * string token is decoded with each lone surrogate as U+FFFD, and other JSON is indented. Bytes
 * outside the viewed part, such as quotes or the other members of a sentinel, have no view. A value
 * is cut into chunks such that each chunk's view can be rendered alone.
 */
import { INDENT_START, indent, packState, unpackState } from '../json/indent.ts'
import { CHUNK_SIZES, type ChunkSizes, type Outline } from '../json/outline.ts'
import { outlineOf } from '../json/scan.ts'
import { JsonSlice } from '../json/slice.ts'
import { measureStringPart } from '../json/string-view.ts'
import { addText, countTails, sumText, type TextSums } from '../text.ts'
import type { ViewPart } from '../window/take-lines.ts'

export type { ChunkSizes } from '../json/outline.ts'

const BACKSLASH = 0x5c
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** Most bytes by which a cut may lie after its target. */
export const CUT_AHEAD_BYTES = 3

export type ViewForm = 'text' | 'string' | 'json' | 'none'

/**
 * Range of a value's bytes that its view shows, and the form of the view. For `string` the range is
 * the inside of the token.
 */
export interface ViewSource {
  readonly form: ViewForm
  readonly start: number
  readonly end: number
}

/** One chunk of a value: its bytes, and the start of its view. All counts are from 0. */
export interface ChunkPlan {
  readonly firstByte: number
  readonly endByte: number
  /** Number of `\n` in the view before it. */
  readonly firstLine: number
  /** Number of `\r\n` in the view before it. No chunk ends inside one. */
  readonly firstCrlf: number
  readonly firstChar: number
  /** State of the formatter, packed; 0 unless the form is `json`. */
  readonly state: number
}

export interface ViewTotals {
  readonly chars: number
  readonly lines: number
  readonly bytes: number
}

export interface ValuePlan {
  readonly chunks: readonly ChunkPlan[]
  readonly view: ViewTotals
}

interface Cut extends TextSums {
  readonly pos: number
  readonly viewBytes: number
  readonly endsLine: boolean
}

/**
 * Cuts a value into chunks of about 64 KiB and measures its view. An empty value has one empty
 * chunk.
 *
 * @example planValue(bytes('a\nb'), { form: 'text', start: 0, end: 3 }).view // { bytes: 3, chars: 3, lines: 2 }
 */
export function planValue(
  value: Buffer,
  source: ViewSource,
  sizes: ChunkSizes = CHUNK_SIZES,
): ValuePlan {
  if (source.form === 'json') {
    const json = new JsonSlice(value, source.start, source.end)
    return planOutlined(json, outlineOf(json, sizes), sizes)
  }
  const chunks: ChunkPlan[] = []
  const state = packState(INDENT_START)
  let pos = 0
  let chars = 0
  let newlines = 0
  let crlfs = 0
  let viewBytes = 0
  let endsLine = true
  do {
    const cut = cutChunk(value, source, pos, sizes)
    const before = { firstLine: newlines, firstCrlf: crlfs, firstChar: chars, state }
    chunks.push({ firstByte: pos, endByte: cut.pos, ...before })
    chars += cut.chars
    newlines += cut.newlines
    crlfs += cut.crlfs
    viewBytes += cut.viewBytes
    if (cut.chars > 0) endsLine = cut.endsLine
    pos = cut.pos
  } while (pos < value.length)
  const lines = endsLine ? newlines : newlines + 1
  return { chunks, view: { chars, lines, bytes: viewBytes } }
}

/**
 * As {@link planValue}, for JSON that was scanned and for the bytes around it.
 *
 * @example planOutlined(json('[1]'), outlineOf(json('[1]'))).view // { bytes: 7, chars: 7, lines: 3 }
 */
export function planOutlined(
  json: JsonSlice,
  outline: Outline,
  { chunkBytes }: ChunkSizes = CHUNK_SIZES,
): ValuePlan {
  const { bytes, start, end } = json
  const chunks: ChunkPlan[] = []
  const counted = { firstLine: 0, firstCrlf: 0, firstChar: 0, state: packState(INDENT_START) }
  let firstByte = 0
  for (; firstByte + chunkBytes <= start; firstByte += chunkBytes) {
    chunks.push({ firstByte, endByte: firstByte + chunkBytes, ...counted })
  }
  let cutPos = start
  let chars = 0
  let viewBytes = 0
  const charsUntil = (pos: number, bytesBefore: number): number => {
    const tails = pos - cutPos === end - start ? json.tails : countTails(bytes, cutPos, pos)
    return chars + bytesBefore - viewBytes - tails
  }
  for (const cut of outline.cuts) {
    const pos = start + cut.pos
    chunks.push({ firstByte, endByte: pos, ...counted })
    chars = charsUntil(pos, cut.viewBytes)
    viewBytes = cut.viewBytes
    Object.assign(counted, { firstLine: cut.lines, firstChar: chars, state: cut.state })
    firstByte = pos
    cutPos = pos
  }
  chars = charsUntil(end, outline.viewBytes)
  const lines = outline.viewLines
  // What follows the view rides along in the last chunk that shows any of it.
  let endByte = Math.min(bytes.length, Math.max(end, firstByte + chunkBytes))
  chunks.push({ firstByte, endByte, ...counted })
  for (; endByte < bytes.length; endByte += chunkBytes) {
    const next = Math.min(bytes.length, endByte + chunkBytes)
    const after = { firstLine: lines, firstCrlf: 0, firstChar: chars, state: 0 }
    chunks.push({ firstByte: endByte, endByte: next, ...after })
  }
  return { chunks, view: { chars, lines: lines + 1, bytes: outline.viewBytes } }
}

/**
 * View of one chunk. `firstByte` is the position of its bytes in the value.
 *
 * @example renderView({ bytes: bytes('[1]'), firstByte: 0, state: 0 }, { form: 'json', start: 0, end: 3 }).toString() // '[\n  1\n]'
 */
export function renderView(
  chunk: { readonly bytes: Buffer; readonly firstByte: number; readonly state: number },
  source: ViewSource,
): Buffer {
  const start = Math.max(0, source.start - chunk.firstByte)
  const end = Math.min(chunk.bytes.length, source.end - chunk.firstByte)
  if (source.form === 'none' || end <= start) return Buffer.alloc(0)
  const bytes = chunk.bytes.subarray(start, end)
  switch (source.form) {
    case 'text':
      return bytes
    case 'string':
      return decodeInside(bytes)
    case 'json':
      return indented(bytes, chunk.state)
    default:
      /* istanbul ignore next -- @preserve */
      return source.form satisfies never
  }
}

/**
 * View of one chunk, with the sums before its start and before its end.
 *
 * @example viewPart({ bytes: bytes('ab'), firstByte: 0, firstLine: 0, firstCrlf: 0, firstChar: 0, state: 0 }, { form: 'text', start: 0, end: 2 }).after.chars // 2
 */
export function viewPart(
  chunk: Omit<ChunkPlan, 'endByte'> & { readonly bytes: Buffer },
  source: ViewSource,
): ViewPart {
  const bytes = renderView(chunk, source)
  const { firstChar: chars, firstLine: newlines, firstCrlf: crlfs } = chunk
  return {
    bytes,
    before: { chars, newlines, crlfs },
    after: addText({ chars, newlines, crlfs }, bytes),
  }
}

function cutChunk(value: Buffer, source: ViewSource, pos: number, { chunkBytes }: ChunkSizes): Cut {
  const target = Math.min(value.length, pos + chunkBytes)
  const from = Math.max(pos, source.start)
  if (source.form === 'none' || from >= Math.min(target, source.end)) {
    return { pos: target, chars: 0, newlines: 0, crlfs: 0, viewBytes: 0, endsLine: false }
  }
  const inside = Math.min(target, source.end)
  const cut =
    source.form === 'string'
      ? measureStringPart(value, from, inside)
      : cutLines(value, source, from, inside)
  // What follows the view rides along in the last chunk that shows any of it.
  return { ...cut, pos: Math.max(cut.pos, target) }
}

function cutLines(value: Buffer, source: ViewSource, from: number, target: number): Cut {
  const pos = cutText(value, target, source.end)
  const endsLine = value[pos - 1] === LF
  return { pos, ...sumText(value, from, pos), viewBytes: pos - from, endsLine }
}

/**
 * Indents one chunk. Its view is measured first and then written into one buffer, since a piece for
 * every token would take many times the memory.
 */
function indented(bytes: Buffer, state: number): Buffer {
  const from = unpackState(state)
  let length = 0
  const count = (taken: number): void => {
    length += taken
  }
  indent(bytes, from, {
    copy: (start, end) => count(end - start),
    newline: (depth) => count(1 + 2 * depth),
    space: () => count(1),
  })
  const view = Buffer.allocUnsafe(length)
  let pos = 0
  const advance = (taken: number): void => {
    pos += taken
  }
  indent(bytes, from, {
    copy: (start, end) => advance(bytes.copy(view, pos, start, end)),
    newline(depth) {
      view[pos] = LF
      view.fill(SPACE, pos + 1, pos + 1 + 2 * depth)
      advance(1 + 2 * depth)
    },
    space() {
      view[pos] = SPACE
      advance(1)
    },
  })
  return view
}

/**
 * End of a text's chunk: `target`, or the first position after it that splits neither a code point
 * nor CR LF. At most {@link CUT_AHEAD_BYTES} after `target`.
 */
export function cutText(bytes: Buffer, target: number, end: number): number {
  const limit = Math.min(end, target + CUT_AHEAD_BYTES)
  let pos = target
  while (pos < limit && ((bytes[pos] as number) & 0xc0) === 0x80) pos++
  return pos < limit && bytes[pos] === LF && bytes[pos - 1] === CR ? pos + 1 : pos
}

/** Decodes the inside of a string token. */
function decodeInside(bytes: Buffer): Buffer {
  if (!bytes.includes(BACKSLASH)) return bytes
  return Buffer.from((JSON.parse(`"${bytes.toString('utf8')}"`) as string).toWellFormed())
}
