/**
 * Puts the members of objects in order in a text that is already written. The text is a chain of segments, one from each
 * member's name to the next; ordering an object links its members anew, whatever is inside them, so that time goes with the
 * size of the text and not with its depth. Each segment is copied once, at the end.
 *
 * Members are ordered by the code points of their names; of a repeated name only the last member stays. Names are spelled
 * with the shortest escapes, so that equal names are equal bytes.
 */
import { escapedCode } from './escape.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const ASCII_END = 0x80
/** The first byte of code points before the surrogates; they stand between it and the next, one 65,536th apart. */
const BEFORE_SURROGATES = 0xed
const CODE_UNITS = 0x10000

/**
 * Fields of a segment: its range, the one that follows, and the last one of the member that it begins. The end of one that a
 * comma is to follow, which the text may have elsewhere, is kept as its complement.
 */
const FIELDS = 4
const END = 1
const NEXT = 2
const LAST = 3
const FIRST_MEMBERS = 32
const FIRST_LEVELS = 16
const IN_ARRAY = -1
/** Up to this many members are sorted by insertion. */
const FEW_MEMBERS = 24
/** Up to so many bytes a loop copies sooner than a call, a word at a time. */
const FEW_BYTES = 96
const WORD_BYTES = 4

export class MemberOrder {
  #text: Buffer
  #segments: Int32Array<ArrayBuffer>
  /** Where the current segment's fields are. */
  #current = 0
  /** The first segments of the members of all open objects. */
  #members: Int32Array<ArrayBuffer>
  #memberCount = 0
  /** Per open container how many of those stand before its own, or that it is an array. */
  #levels = new Int32Array(FIRST_LEVELS)
  #depth = 0
  #isChanged = false

  /** Orders members in `text`, which is being read or written, and is likely to have so many. All positions are in it. */
  constructor(text: Buffer, likelyMembers: number) {
    this.#text = text
    this.#segments = new Int32Array((likelyMembers + 1) * FIELDS)
    this.#members = new Int32Array(FIRST_MEMBERS)
  }

  /** The text goes on in `text`, which begins with all that was told so far. */
  moveTo(text: Buffer): void {
    this.#text = text
  }

  openArray(): void {
    this.#push(IN_ARRAY)
  }

  closeArray(): void {
    this.#depth--
  }

  /** The first member, if there is one, is written at `pos`. */
  openObject(pos: number): void {
    this.#push(this.#memberCount)
    this.#beginMember(pos)
  }

  /** After a comma: the next member or element is written at `pos`. */
  next(pos: number): void {
    if (this.#levels[this.#depth - 1] === IN_ARRAY) return
    this.#endMember()
    this.#beginMember(pos)
  }

  /** Ends an object whose closing bracket is at `pos`. */
  closeObject(pos: number): void {
    const first = this.#levels[--this.#depth] as number
    this.#endMember()
    if (!this.#sort(first, this.#memberCount)) {
      this.#begin(pos)
      this.#link(first, this.#memberCount)
    }
    this.#memberCount = first
  }

  /** The text in order, which ends at `end`. */
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
        // what is too much is overwritten by what follows
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

  /** Links the sorted members `[first, end)` between the segments before and after them, with commas between them. */
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
      // all have a comma but the one that was the last
      segments[last + END] = ~(text[until - 1] === COMMA ? until - 1 : until)
    }
    segments[last + END] = ~(segments[last + END] as number)
    segments[last + NEXT] = this.#current
    this.#isChanged = true
  }

  /** Sorts the members `[first, end)`; whether each already stood after a lesser one. Equal names keep their order. */
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

/** Where what stands at `pos` in a name comes: its end, a byte of a code point, or an escape, which stands for ASCII or a lone surrogate. */
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
