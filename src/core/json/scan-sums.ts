/**
 * The bookkeeping of a scan: running sums over all it has passed, and for each value of the watched level an outline. The
 * scanner adds to the sums where it stands; nothing here looks at a byte but to cut a long string where no escape is split.
 */
import { packState } from './indent.ts'
import { type ChunkSizes, type Entry, HEAD_ENTRIES, type Outline, type ViewCut } from './outline.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
const UNICODE_ESCAPE_BYTES = 6
/** Of how many values of the watched level the outline is kept. */
const OUTLINES = 16

/** Past every position: a whole number, since V8 keeps those apart from other numbers. */
const NEVER = 0x7fffffff

export class Observer {
  readonly #bytes: Uint8Array
  readonly #sizes: ChunkSizes
  readonly outlines = new Map<number, Outline>()

  /** Bytes of the indented view and of compact JSON up to a position, less that position. All sums start at a watched value. */
  viewExtra = 0
  compactExtra = 0
  viewLines = 0
  repeats = 0
  /** Of the escapes in strings. */
  growth = 0
  tails = 0
  /** What a line end and the indentation after it take: 1 and two for each level inside the watched value. */
  lineBytes = 1
  /** Right after an opening bracket, whose line end is still due. */
  afterOpen = false
  /** Where a chunk is full: a position, and bytes of the view. */
  nextPos = NEVER
  nextView = NEVER

  /** Commas inside the entry. */
  innerCommas = 0
  #start = 0
  #cuts: ViewCut[] = []
  #lastCut = 0
  #head: Entry[] = []
  #entries = 0
  #entryStart = 0
  #entryValueStart = 0
  /** The last entry and the one before, as numbers: an object for each entry would cost as much as the scan. */
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
    // New ones: those of the value before are in its outline.
    this.#cuts = []
    this.#head = []
    this.#chunkFrom(pos, pos)
  }

  /** It ends; `repeats` is how many of its own members do not count. */
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

  /** An element of the watched value starts, or a member's name; its value starts at `valueStart`. */
  beginEntry(start: number, valueStart: number): void {
    this.#entryStart = start
    this.#entryValueStart = valueStart
    this.innerCommas = 0
  }

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

  /** Cuts the token `[from, until)`, as often as chunks end inside it. */
  cutInside(from: number, until: number): void {
    const isString = this.#bytes[from] === QUOTE
    for (;;) {
      const pos = Math.max(from, this.nextPos)
      const place = isString ? this.#placeInString(from, pos) : pos
      if (place >= until) return
      this.#cutAt(place, isString && place > from)
    }
  }

  /** White space `[from, until)` between tokens. */
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

  /** The first place at or after `target` in the string token from `start` on that splits no escape and no code point. */
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
