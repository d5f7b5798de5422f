/**
 * The text view of a value, which windows, recall and the totals speak of, and how a value is cut into chunks from each of
 * which the view can be rendered alone: a text is its own view, a string token is decoded (each lone surrogate as U+FFFD),
 * any other JSON is indented. Bytes outside the viewed part (quotes, a sentinel's other members) have no view.
 */
import {
  INDENT_START,
  type IndentSink,
  type IndentState,
  indent,
  packState,
  unpackState,
} from './json/indent.ts'
import { cutString } from './json/string-cut.ts'
import { CHUNK_BYTES, CHUNK_VIEW_BYTES } from './limits.ts'
import { addText, measureText, sumText, type TextSums } from './text.ts'
import type { ViewPart } from './window-lines.ts'

const BACKSLASH = 0x5c
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
/** How far after its target a cut may be. */
export const CUT_AHEAD_BYTES = 3

export type ViewForm = 'text' | 'string' | 'json' | 'none'

/** Which bytes of a value its view is made of, and how. For `string` the range is the inside of the token. */
export interface ViewSource {
  readonly form: ViewForm
  readonly start: number
  readonly end: number
}

/** One chunk of a value: which bytes, and where its view starts. All counts are from 0. */
export interface ChunkPlan {
  readonly firstByte: number
  readonly endByte: number
  /** How many `\n` of the view come before. */
  readonly firstLine: number
  /** How many `\r\n` of the view come before; no chunk ends inside one. */
  readonly firstCrlf: number
  readonly firstChar: number
  /** The formatter's state, packed; 0 for all but JSON. */
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
  readonly state: number
  readonly viewBytes: number
  readonly endsLine: boolean
}

/** How large a chunk becomes: bytes of the value, and bytes of an indented view. */
export interface ChunkSizes {
  readonly chunkBytes: number
  readonly chunkViewBytes: number
}

const CHUNK_SIZES: ChunkSizes = { chunkBytes: CHUNK_BYTES, chunkViewBytes: CHUNK_VIEW_BYTES }

/** Cuts a value into chunks of about 64 KiB and measures its view on the way; an empty value has one empty chunk. */
export function planValue(
  value: Buffer,
  source: ViewSource,
  sizes: ChunkSizes = CHUNK_SIZES,
): ValuePlan {
  const chunks: ChunkPlan[] = []
  let pos = 0
  let state = packState(INDENT_START)
  let chars = 0
  let newlines = 0
  let crlfs = 0
  let viewBytes = 0
  let endsLine = true
  do {
    const cut = cutChunk(value, source, { pos, state }, sizes)
    const before = { firstLine: newlines, firstCrlf: crlfs, firstChar: chars, state }
    chunks.push({ firstByte: pos, endByte: cut.pos, ...before })
    chars += cut.chars
    newlines += cut.newlines
    crlfs += cut.crlfs
    viewBytes += cut.viewBytes
    if (cut.chars > 0) endsLine = cut.endsLine
    pos = cut.pos
    state = cut.state
  } while (pos < value.length)
  const lines = endsLine ? newlines : newlines + 1
  return { chunks, view: { chars, lines, bytes: viewBytes } }
}

/** The view of one chunk, given the chunk's bytes and where in the value they start. */
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
      /* v8 ignore next -- @preserve */
      return source.form satisfies never
  }
}

/** The view of one chunk, with what lies before it and before its end. */
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

function cutChunk(
  value: Buffer,
  source: ViewSource,
  { pos, state }: Pick<Cut, 'pos' | 'state'>,
  { chunkBytes, chunkViewBytes }: ChunkSizes,
): Cut {
  const target = Math.min(value.length, pos + chunkBytes)
  const from = Math.max(pos, source.start)
  if (source.form === 'none' || from >= Math.min(target, source.end)) {
    return { pos: target, state, chars: 0, newlines: 0, crlfs: 0, viewBytes: 0, endsLine: false }
  }
  const inside = Math.min(target, source.end)
  const cut =
    source.form === 'json'
      ? cutJson(value, { start: from, target: inside, state: unpackState(state) }, chunkViewBytes)
      : cutLines(value, source, from, inside)
  // What follows the view rides along in the last chunk that shows any of it.
  return cut.pos === source.end ? { ...cut, pos: Math.max(cut.pos, target) } : cut
}

function cutLines(value: Buffer, source: ViewSource, from: number, target: number): Cut {
  const escaped = source.form === 'string'
  const pos = escaped ? cutString(value, from, target) : cutText(value, target, source.end)
  const view = escaped ? decodeInside(value.subarray(from, pos)) : value.subarray(from, pos)
  const endsLine = view.at(-1) === LF
  return { pos, state: 0, ...sumText(view), viewBytes: view.length, endsLine }
}

function cutJson(
  value: Buffer,
  from: { readonly start: number; readonly target: number; readonly state: IndentState },
  chunkViewBytes: number,
): Cut {
  let chars = 0
  let newlines = 0
  let viewBytes = 0
  const sink: IndentSink = {
    copy(start, end) {
      chars += measureText(value, start, end).chars
      viewBytes += end - start
    },
    newline(depth) {
      chars += 1 + 2 * depth
      viewBytes += 1 + 2 * depth
      newlines++
    },
    space() {
      chars++
      viewBytes++
    },
    full: () => viewBytes >= chunkViewBytes,
  }
  const cut = indent(value, from, sink)
  const state = packState(cut.state)
  return { pos: cut.pos, state, chars, newlines, crlfs: 0, viewBytes, endsLine: false }
}

/** Measured first and then written into one buffer: a piece of its own for every token would take many times as much. */
function indented(bytes: Buffer, state: number): Buffer {
  const walk = { start: 0, target: bytes.length, state: unpackState(state) }
  let length = 0
  const count = (taken: number): void => {
    length += taken
  }
  indent(bytes, walk, {
    copy: (start, end) => count(end - start),
    newline: (depth) => count(1 + 2 * depth),
    space: () => count(1),
    full: () => false,
  })
  const view = Buffer.allocUnsafe(length)
  let pos = 0
  const advance = (taken: number): void => {
    pos += taken
  }
  indent(bytes, walk, {
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
    full: () => false,
  })
  return view
}

/**
 * Where a chunk of a text ends: at `target`, or at the first place after it that splits neither a code point nor CR LF. At most
 * {@link CUT_AHEAD_BYTES} after it.
 */
export function cutText(bytes: Buffer, target: number, end: number): number {
  const limit = Math.min(end, target + CUT_AHEAD_BYTES)
  let pos = target
  while (pos < limit && ((bytes[pos] as number) & 0xc0) === 0x80) pos++
  return pos < limit && bytes[pos] === LF && bytes[pos - 1] === CR ? pos + 1 : pos
}

/** The inside of a string token, decoded. */
function decodeInside(bytes: Buffer): Buffer {
  if (!bytes.includes(BACKSLASH)) return bytes
  return Buffer.from((JSON.parse(`"${bytes.toString('utf8')}"`) as string).toWellFormed())
}
