/**
 * The text view of a JSON value: indented by two spaces, members in their own order, tokens as written. It is never kept:
 * a state of a few bits at any cut of the source is enough to render the view from there on.
 */
const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
const UNICODE_ESCAPE_BYTES = 6

/** Where the formatter is at a cut: how deep, inside a string, right after an opening bracket. */
export interface IndentState {
  readonly depth: number
  readonly inString: boolean
  readonly afterOpen: boolean
}

export const INDENT_START: IndentState = { depth: 0, inString: false, afterOpen: false }

/** A state as the one integer that the ledger keeps with a chunk. */
export const packState = (state: IndentState): number =>
  state.depth * 4 + (state.inString ? 2 : 0) + (state.afterOpen ? 1 : 0)

export const unpackState = (packed: number): IndentState => ({
  depth: Math.floor(packed / 4),
  inString: (packed & 2) !== 0,
  afterOpen: (packed & 1) !== 0,
})

/** What takes the view, piece by piece. */
export interface IndentSink {
  /** Bytes of the source, as they stand. */
  copy(start: number, end: number): void
  /** A line end and the indentation of the next line, two spaces a level. */
  newline(depth: number): void
  /** The space after a colon. */
  space(): void
  /** True ends the walk at the next place where it can be cut. */
  full(): boolean
}

export interface IndentCut {
  readonly pos: number
  readonly state: IndentState
}

/**
 * Formats `bytes[start, …)` until about `target`: the cut it returns splits no escape and no code point, so it may lie a few
 * bytes further on, and earlier when the sink is full.
 */
export function indent(
  bytes: Uint8Array,
  { start, target, state }: { start: number; target: number; state: IndentState },
  sink: IndentSink,
): IndentCut {
  let { depth, inString, afterOpen } = state
  let pos = start
  let run = start
  const flush = (until: number): void => {
    if (until > run) sink.copy(run, until)
    run = until
  }
  const openLine = (): void => {
    if (!afterOpen) return
    afterOpen = false
    flush(pos)
    sink.newline(depth)
  }
  const closeLine = (): void => {
    flush(pos)
    if (!afterOpen) sink.newline(depth)
    afterOpen = false
  }
  while (pos < target) {
    if (inString) {
      pos = skipInString(bytes, pos, target)
      if (bytes[pos] === QUOTE && pos < target) {
        inString = false
        pos++
      }
      continue
    }
    const byte = bytes[pos] as number
    if (byte <= SPACE) {
      flush(pos)
      run = ++pos
      continue
    }
    switch (byte) {
      case QUOTE:
        openLine()
        inString = true
        pos++
        break
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        openLine()
        pos++
        depth++
        afterOpen = true
        break
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        depth--
        closeLine()
        pos++
        break
      case COMMA:
        flush(++pos)
        sink.newline(depth)
        break
      case COLON:
        flush(++pos)
        sink.space()
        break
      default:
        openLine()
        pos++
    }
    if (sink.full()) break
  }
  flush(pos)
  return { pos, state: { depth, inString, afterOpen } }
}

/** From inside a string to its closing quote, or to the first place at or after `target` where it can be cut. */
function skipInString(bytes: Uint8Array, from: number, target: number): number {
  let pos = from
  while (pos < target) {
    const byte = bytes[pos]
    if (byte === QUOTE) return pos
    pos += byte === BACKSLASH ? escapeBytes(bytes, pos) : 1
  }
  while (((bytes[pos] ?? 0) & 0xc0) === 0x80) pos++
  return pos
}

const escapeBytes = (bytes: Uint8Array, pos: number): number =>
  bytes[pos + 1] === LOWER_U ? UNICODE_ESCAPE_BYTES : SHORT_ESCAPE_BYTES
