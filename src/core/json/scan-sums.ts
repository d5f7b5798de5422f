/**
 * Bookkeeping of a scan: running sums over the bytes passed, and an outline for each value of the
 * watched level. The scanner updates the sums. This module reads bytes only to cut a long string
 * where no escape is split.
 */
import { packState } from './indent.ts'
import { type ChunkSizes, type Entry, HEAD_ENTRIES, type Outline, type ViewCut } from './outline.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
const UNICODE_ESCAPE_BYTES = 6
/** Outlines are kept for at most this many values of the watched level. */
const OUTLINES = 16

/** Greater than every position. A small integer, since V8 stores those unboxed. */
const NEVER = 0x7fffffff

/** Sums and outlines of one scan. The scanner writes its public fields directly. */
export class Observer {
  readonly #bytes: Uint8Array
  readonly #sizes: ChunkSizes
  readonly outlines = new Map<number, Outline>()

  /**
   * Bytes of the indented view, and of compact JSON, minus source bytes. All sums start at a
   * watched value.
   */
  viewExtra = 0
  compactExtra = 0
  viewLines = 0
  repeats = 0
  /** Sums over escapes in strings, as `EscapeSums` defines them. */
  growth = 0
  tails = 0
  /**
   * Bytes of a line end with the indentation after it: 1, and 2 for each level inside the watched
   * value.
   */
  lineBytes = 1
  /** True right after an opening bracket, whose line end is not counted yet. */
  afterOpen = false
  /** A chunk is full at this source position, or at this many bytes of the view. */
  nextPos = NEVER
  nextView = NEVER

  /** Commas directly inside the current entry. */
  innerCommas = 0
  #start = 0
  #cuts: ViewCut[] = []
  #lastCut = 0
  #head: Entry[] = []
  #entries = 0
  #entryStart = 0
  #entryValueStart = 0
  /**
   * The last two entries, as separate numbers: an object for each entry would double the time of
   * the scan.
   */
  #lastStart = 0
  #lastValueStart = 0
  #lastEnd = 0
  #lastSize = 0
  #priorStart = 0
  #priorValueStart = 0
  #priorEnd = 0
  #priorSize = 0

  constructor(bytes: Uint8Array, sizes: ChunkSizes) {
    this.#bytes = bytes
    this.#sizes = sizes
  }

  /** A value of the watched level starts. */
  begin(pos: number): void {
    this.#start = pos
    this.viewExtra = 0
    this.compactExtra = 0
    this.viewLines = 0
    this.repeats = 0
    this.growth = 0
    this.tails = 0
    this.lineBytes = 1
    this.#entries = 0
    // New arrays: the outline of the value before holds the old ones.
    this.#cuts = []
    this.#head = []
    this.#chunkFrom(pos, pos)
  }

  /**
   * The watched value ends at `pos`. `repeats` is the number of its members that a later member
   * replaces.
   */
  finish(pos: number, repeats: number): void {
    this.nextPos = NEVER
    this.nextView = NEVER
    if (this.outlines.size === OUTLINES) return
    const bytes = pos - this.#start
    this.outlines.set(this.#start, {
      bytes,
      cuts: this.#cuts,
      viewLines: this.viewLines,
      viewBytes: bytes + this.viewExtra,
      compactBytes: bytes + this.compactExtra + this.growth,
      escapedTails: this.tails,
      hasRepeats: this.repeats > 0,
      entries: this.#entries,
      size: this.#entries - repeats,
      head: this.#head,
      tail: this.#tail(),
    })
  }

  /** An element or member of the watched value starts at `start`, its value at `valueStart`. */
  beginEntry(start: number, valueStart: number): void {
    this.#entryStart = start
    this.#entryValueStart = valueStart
    this.innerCommas = 0
  }

  /** The entry ends at `end`. `size` is the number of its own elements or distinct members. */
  finishEntry(end: number, size: number): void {
    this.#priorStart = this.#lastStart
    this.#priorValueStart = this.#lastValueStart
    this.#priorEnd = this.#lastEnd
    this.#priorSize = this.#lastSize
    this.#lastStart = this.#entryStart
    this.#lastValueStart = this.#entryValueStart
    this.#lastEnd = end
    this.#lastSize = size
    if (this.#entries++ < HEAD_ENTRIES) this.#head.push(this.#lastEntry())
  }

  #tail(): readonly Entry[] {
    if (this.#entries === 0) return []
    const last = this.#lastEntry()
    if (this.#entries === 1) return [last]
    const from = this.#start
    const prior = {
      start: this.#priorStart - from,
      valueStart: this.#priorValueStart - from,
      end: this.#priorEnd - from,
      size: this.#priorSize,
    }
    return [prior, last]
  }

  #lastEntry(): Entry {
    const from = this.#start
    return {
      start: this.#lastStart - from,
      valueStart: this.#lastValueStart - from,
      end: this.#lastEnd - from,
      size: this.#lastSize,
    }
  }

  /** A chunk ends at `pos`, between tokens. */
  cut(pos: number): void {
    this.#cutAt(pos, false)
  }

  /** Cuts the token `[from, until)` wherever a chunk is full inside it. */
  cutInside(from: number, until: number): void {
    const isString = this.#bytes[from] === QUOTE
    for (;;) {
      const pos = Math.max(from, this.nextPos)
      const place = isString ? this.#placeInString(from, pos) : pos
      if (place >= until) return
      this.#cutAt(place, isString && place > from)
    }
  }

  /** White space `[from, until)` between tokens was passed. */
  blank(from: number, until: number): void {
    while (this.nextPos < until) {
      const pos = Math.max(from, this.nextPos)
      this.viewExtra -= pos - from
      this.compactExtra -= pos - from
      this.#cutAt(pos, false)
      this.viewExtra += pos - from
      this.compactExtra += pos - from
    }
    this.viewExtra -= until - from
    this.compactExtra -= until - from
  }

  #cutAt(pos: number, inString: boolean): void {
    const level = (this.lineBytes - 1) >> 1
    const view = pos + this.viewExtra
    this.#cuts.push({
      pos: pos - this.#start,
      state: packState({ depth: level, inString, afterOpen: this.afterOpen }),
      lines: this.viewLines,
      viewBytes: view - this.#start,
    })
    this.#chunkFrom(pos, view)
  }

  #chunkFrom(pos: number, view: number): void {
    this.#lastCut = pos
    this.nextPos = pos + this.#sizes.chunkBytes
    this.nextView = view + this.#sizes.chunkViewBytes
  }

  /**
   * First position at or after `target`, in the string token that starts at `start`, that splits no
   * escape and no code point.
   */
  #placeInString(start: number, target: number): number {
    const bytes = this.#bytes
    const floor = Math.max(start + 1, this.#lastCut)
    let pos = target
    for (let at = target - 1; at >= floor && at > target - UNICODE_ESCAPE_BYTES; at--) {
      if (bytes[at] !== BACKSLASH) continue
      let run = at
      while (run > floor && bytes[run - 1] === BACKSLASH) run--
      // The last of an even number of backslashes is the end of an escape.
      if ((at - run) % SHORT_ESCAPE_BYTES === 0) {
        const taken = bytes[at + 1] === LOWER_U ? UNICODE_ESCAPE_BYTES : SHORT_ESCAPE_BYTES
        pos = Math.max(pos, at + taken)
      }
      break
    }
    while (((bytes[pos] as number) & 0xc0) === 0x80) pos++
    return pos
  }
}
