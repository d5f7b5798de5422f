/**
 * The text view of a JSON value: indented by two spaces, members in their own order, tokens as
 * written. It is not stored. The formatter's state at a cut of the source takes a few bits, and is
 * enough to render the view from there on.
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
/** Bytes skipped after a backslash. The digits of a `\uXXXX` read as plain text. */
const ESCAPE_BYTES = 2

/**
 * State of the formatter at a cut: its depth, whether it is inside a string, and whether a bracket
 * has just opened.
 */
export interface IndentState {
  readonly depth: number
  readonly inString: boolean
  readonly afterOpen: boolean
}

/** State at the start of a document. */
export const INDENT_START: IndentState = { depth: 0, inString: false, afterOpen: false }

/** Packs a state into the one integer that the ledger keeps with a chunk. */
export const packState = (state: IndentState): number =>
  state.depth * 4 + (state.inString ? 2 : 0) + (state.afterOpen ? 1 : 0)

/** Reverses {@link packState}. */
export const unpackState = (packed: number): IndentState => ({
  depth: Math.floor(packed / 4),
  inString: (packed & 2) !== 0,
  afterOpen: (packed & 1) !== 0,
})

/** Receives the view piece by piece. */
export interface IndentSink {
  /** Bytes `[start, end)` of the source, unchanged. */
  copy(start: number, end: number): void
  /** A line end and the indentation of the next line, two spaces a level. */
  newline(depth: number): void
  /** The space after a colon. */
  space(): void
}

/**
 * Formats a part of a document. `state` is the formatter's state at its start. The part must split
 * no escape at its ends.
 */
export function indent(bytes: Uint8Array, state: IndentState, sink: IndentSink): void {
  const end = bytes.length
  let { depth, afterOpen } = state
  let pos = state.inString ? stringEnd(bytes, 0) : 0
  let run = 0
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
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte <= SPACE) {
      flush(pos)
      run = ++pos
      continue
    }
    switch (byte) {
      case QUOTE:
        openLine()
        pos = stringEnd(bytes, pos + 1)
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
  }
  flush(end)
}

/**
 * Position after the closing quote of the string that `from` is inside of, or the end of the bytes.
 */
function stringEnd(bytes: Uint8Array, from: number): number {
  let pos = from
  while (pos < bytes.length) {
    const byte = bytes[pos]
    if (byte === QUOTE) return pos + 1
    pos += byte === BACKSLASH ? ESCAPE_BYTES : 1
  }
  return pos
}
