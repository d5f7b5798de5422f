/**
 * Sorts the members of objects in JSON text. The text is a linked list of segments, each from one
 * member's name to the next. Sorting an object relinks its members without looking inside them, so
 * time depends on the size of the text and not on its depth. Each segment is copied once, at the
 * end.
 *
 * Members are sorted by the code points of their names. Of a repeated name only the last member
 * stays. Names must be spelled with the shortest escapes, so that equal names have equal bytes.
 */
import { escapedCode } from './escape.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const ASCII_END = 0x80
/**
 * First UTF-8 byte of the code points just below the surrogates. Escaped surrogates rank between it
 * and the next byte.
 */
const BEFORE_SURROGATES = 0xed
const CODE_UNITS = 0x10000

/**
 * Fields of a segment: start, end, the next segment, and the last segment of the member that starts
 * here. A comma is written after a segment whose end is stored as its complement (`~end`).
 */
const FIELDS = 4
const END = 1
const NEXT = 2
const LAST = 3
const FIRST_MEMBERS = 32
const FIRST_LEVELS = 16
const IN_ARRAY = -1
/** Insertion sort is used for up to this many members. */
const FEW_MEMBERS = 24
/** A loop over words copies up to this many bytes faster than a call does. */
const FEW_BYTES = 96
const WORD_BYTES = 4

/** Collects the members of a text while it is read, and gives the text with its members sorted. */
export class MemberOrder {
  #text: Buffer
  #segments: Int32Array<ArrayBuffer>
  /** Index of the current segment's fields. */
  #current = 0
  /** The first segments of the members of all open objects. */
  #members: Int32Array<ArrayBuffer>
  #memberCount = 0
  /**
   * For each open object, the number of members before its first; {@link IN_ARRAY} for an array.
   */
  #levels = new Int32Array(FIRST_LEVELS)
  #depth = 0
  #isChanged = false

  /**
   * Sorts members of `text`, while it is read or written. `likelyMembers` is a guess. All positions
   * are in `text`.
   */
  constructor(text: Buffer, likelyMembers: number) {
    this.#text = text
    this.#segments = new Int32Array((likelyMembers + 1) * FIELDS)
    this.#members = new Int32Array(FIRST_MEMBERS)
  }

  /** Continues in `text`, which starts with the same bytes as the text before. */
  moveTo(text: Buffer): void {
    this.#text = text
  }

  /** An array opens. */
  openArray(): void {
    this.#push(IN_ARRAY)
  }

  /** An array closes. */
  closeArray(): void {
    this.#depth--
  }

  /** An object opens; its first member, if any, starts at `pos`. */
  openObject(pos: number): void {
    this.#push(this.#memberCount)
    this.#beginMember(pos)
  }

  /** A comma was read; the next member or element starts at `pos`. */
  next(pos: number): void {
    if (this.#levels[this.#depth - 1] === IN_ARRAY) return
    this.#endMember()
    this.#beginMember(pos)
  }

  /** An object closes; its closing brace is at `pos`. */
  closeObject(pos: number): void {
    const first = this.#levels[--this.#depth] as number
    this.#endMember()
    if (!this.#sort(first, this.#memberCount)) {
      this.#begin(pos)
      this.#link(first, this.#memberCount)
    }
    this.#memberCount = first
  }

  /** Returns the text `[0, end)` with its members sorted. */
  ordered(end: number): Buffer {
    const segments = this.#segments
    const text = this.#text
    segments[this.#current + END] = end
    segments[this.#current + NEXT] = -1
    if (!this.#isChanged) return text.subarray(0, end)
    const ordered = Buffer.allocUnsafeSlow(end + WORD_BYTES)
    const read = dataOf(text)
    const write = dataOf(ordered)
    const lastWord = text.length - WORD_BYTES
    let to = 0
    for (let at = 0; at >= 0; at = segments[at + NEXT] as number) {
      const from = segments[at] as number
      const stop = segments[at + END] as number
      const until = stop < 0 ? ~stop : stop
      if (until - from > FEW_BYTES || until > lastWord) text.copy(ordered, to, from, until)
      else {
        // Bytes copied past the end are overwritten by the next segment.
        const shift = to - from
        for (let pos = from; pos < until; pos += WORD_BYTES) {
          write.setInt32(pos + shift, read.getInt32(pos))
        }
      }
      to += until - from
      if (stop < 0) ordered[to++] = COMMA
    }
    return ordered.subarray(0, to)
  }

  #push(level: number): void {
    if (this.#depth === this.#levels.length) this.#levels = doubled(this.#levels)
    this.#levels[this.#depth++] = level
  }

  #beginMember(pos: number): void {
    this.#begin(pos)
    if (this.#memberCount === this.#members.length) this.#members = doubled(this.#members)
    this.#members[this.#memberCount++] = this.#current
  }

  #endMember(): void {
    const member = this.#members[this.#memberCount - 1] as number
    this.#segments[member + LAST] = this.#current
  }

  #begin(pos: number): void {
    const before = this.#current
    const at = before + FIELDS
    if (at === this.#segments.length) this.#segments = doubled(this.#segments)
    const segments = this.#segments
    segments[before + END] = pos
    segments[before + NEXT] = at
    segments[at] = pos
    this.#current = at
  }

  /** Links the sorted members `[first, end)` between their neighbours, separated by commas. */
  #link(first: number, end: number): void {
    const text = this.#text
    const segments = this.#segments
    const members = this.#members
    let earliest = this.#current
    for (let i = first; i < end; i++) earliest = Math.min(earliest, members[i] as number)
    let last = earliest - FIELDS
    for (let i = first; i < end; i++) {
      const member = members[i] as number
      if (i + 1 < end && this.#compare(member, members[i + 1] as number) === 0) continue
      segments[last + NEXT] = member
      last = segments[member + LAST] as number
      const until = segments[last + END] as number
      // Every member but the last of the source has its comma already.
      segments[last + END] = ~(text[until - 1] === COMMA ? until - 1 : until)
    }
    segments[last + END] = ~(segments[last + END] as number)
    segments[last + NEXT] = this.#current
    this.#isChanged = true
  }

  /**
   * Sorts the members `[first, end)`. Returns whether they were strictly ascending before. Equal
   * names keep their order.
   */
  #sort(first: number, end: number): boolean {
    if (end - first > FEW_MEMBERS) return this.#sortMany(first, end)
    const members = this.#members
    let inOrder = true
    for (let i = first + 1; i < end; i++) {
      const member = members[i] as number
      let to = i
      while (to > first) {
        const order = this.#compare(members[to - 1] as number, member)
        if (order >= 0) inOrder = false
        if (order <= 0) break
        members[to] = members[to - 1] as number
        to--
      }
      members[to] = member
    }
    return inOrder
  }

  #sortMany(first: number, end: number): boolean {
    const members = this.#members
    let pos = first + 1
    while (pos < end && this.#compare(members[pos - 1] as number, members[pos] as number) < 0) pos++
    if (pos === end) return true
    members.subarray(first, end).sort((a, b) => this.#compare(a, b))
    return false
  }

  /** Compares the names of two members. */
  #compare(a: number, b: number): number {
    const text = this.#text
    let left = (this.#segments[a] as number) + 1
    let right = (this.#segments[b] as number) + 1
    for (;;) {
      const byte = text[left] as number
      const other = text[right] as number
      if (byte !== other) return rankAt(text, left) - rankAt(text, right)
      if (byte === QUOTE) return 0
      if (byte === BACKSLASH) {
        const order = rankAt(text, left) - rankAt(text, right)
        if (order !== 0) return order
        left++
        right++
      }
      left++
      right++
    }
  }
}

/** Sort rank of the byte or escape at `pos` in a name. The end of the name ranks first. */
function rankAt(text: Uint8Array, pos: number): number {
  const byte = text[pos] as number
  if (byte === QUOTE) return -1
  if (byte !== BACKSLASH) return byte
  const code = escapedCode(text, pos)
  return code < ASCII_END ? code : BEFORE_SURROGATES + code / CODE_UNITS
}

const dataOf = ({ buffer, byteOffset, length }: Buffer): DataView =>
  new DataView(buffer, byteOffset, length)

function doubled(numbers: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}
