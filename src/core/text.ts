/**
 * The one definition of bytes, chars and lines, over UTF-8 bytes so that nothing large is ever decoded to be measured.
 *
 * chars are Unicode code points; lines are Rust's `str::lines`: split at `\n`, one `\r` before it belongs to the line end,
 * and a final line end opens no further line. All functions expect valid UTF-8.
 */
import { isAscii, isUtf8 } from 'node:buffer'

const HIGH_SURROGATE = /[\ud800-\udbff]/
const LF = 0x0a
const CR = 0x0d
const WORD_BYTES = 4
/** Below this many bytes, looking at them by words costs more than it saves. */
const WORDS_FROM_BYTES = 64
/** Counted in one call: a function whose only call never ends is compiled badly. */
const BLOCK_BYTES = 16_384
/** How near bisection comes to a fault in UTF-8. */
const WALK_BYTES = 64

export interface TextMeasure {
  readonly chars: number
  /** How many `\n` there are. */
  readonly newlines: number
}

export interface TextSums extends TextMeasure {
  /** How many of them have a `\r` before them. */
  readonly crlfs: number
}

/** The buffer behind `bytes` as 32-bit words: a view, never a copy; index it by `(byteOffset + position) >> 2`. */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
}

/** The high bit of each byte lane that is zero. */
const zeroLanes = (w: number): number => ~(((w & 0x7f7f7f7f) + 0x7f7f7f7f) | w | 0x7f7f7f7f)

/** How many lanes have their high bit set, given no other bit is. */
const countLanes = (highs: number): number => Math.imul(highs >>> 7, 0x01010101) >>> 24

/**
 * Counts code points, `\n`, and the `\r\n` that lie whole in `[start, end)`; four bytes at a time, of which most hold nothing
 * to count but as many code points.
 */
export function sumText(bytes: Uint8Array, start = 0, end = bytes.length): TextSums {
  const sums = { tails: 0, newlines: 0, crlfs: 0 }
  if (end - start < WORDS_FROM_BYTES) sumBytes(bytes, { start, pos: start, end }, sums)
  else {
    const first = start + toWord(bytes, start)
    const last = first + Math.floor((end - first) / WORD_BYTES) * WORD_BYTES
    sumBytes(bytes, { start, pos: start, end: first }, sums)
    for (let pos = first; pos < last; pos += BLOCK_BYTES) {
      sumWords(bytes, { start, pos, end: Math.min(last, pos + BLOCK_BYTES) }, sums)
    }
    sumBytes(bytes, { start, pos: last, end }, sums)
  }
  const { tails, newlines, crlfs } = sums
  return { chars: end - start - tails, newlines, crlfs }
}

interface Counting {
  tails: number
  newlines: number
  crlfs: number
}

/** From `pos` to `end` of what is counted from `start` on. */
interface Stretch {
  readonly start: number
  readonly pos: number
  readonly end: number
}

function sumBytes(bytes: Uint8Array, { start, pos, end }: Stretch, sums: Counting): void {
  for (let at = pos; at < end; at++) {
    const byte = bytes[at] as number
    if ((byte & 0xc0) === 0x80) sums.tails++
    else if (byte === LF) {
      sums.newlines++
      if (at > start && bytes[at - 1] === CR) sums.crlfs++
    }
  }
}

/** The same of whole words. */
function sumWords(bytes: Uint8Array, { start, pos, end }: Stretch, sums: Counting): void {
  const words = wordsOf(bytes)
  const first = (bytes.byteOffset + pos) >> 2
  const last = (bytes.byteOffset + end) >> 2
  let tails = 0
  let newlines = 0
  let crlfs = pos > start && pos < end && bytes[pos] === LF && bytes[pos - 1] === CR ? 1 : 0
  for (let word = first; word < last; word++) {
    const w = words[word] as number
    const v = w ^ 0x0a0a0a0a
    // Not ASCII, or a `\n` (or one byte that looks like it beside one): most words have neither.
    if ((((v - 0x01010101) | w) & 0x80808080) !== 0) {
      tails += countLanes(w & ~(w << 1) & 0x80808080)
      const feeds = zeroLanes(v)
      if (feeds !== 0) {
        newlines += countLanes(feeds)
        const carried = word > first && (words[word - 1] as number) >>> 24 === CR ? 0x80 : 0
        crlfs += countLanes(feeds & ((zeroLanes(w ^ 0x0d0d0d0d) << 8) | carried))
      }
    }
  }
  sums.tails += tails
  sums.newlines += newlines
  sums.crlfs += crlfs
}

/** Counts code points and `\n`. */
export function measureText(bytes: Uint8Array, start = 0, end = bytes.length): TextMeasure {
  const { chars, newlines } = sumText(bytes, start, end)
  return { chars, newlines }
}

/** What lies before a text and in it. */
export function addText(before: TextSums, bytes: Uint8Array): TextSums {
  const { chars, newlines, crlfs } = sumText(bytes)
  return {
    chars: before.chars + chars,
    newlines: before.newlines + newlines,
    crlfs: before.crlfs + crlfs,
  }
}

export function countChars(bytes: Uint8Array, start = 0, end = bytes.length): number {
  return measureText(bytes, start, end).chars
}

/** How many bytes more than code points there are in `[start, end)`. */
export function countTails(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (isAscii(bytes.subarray(start, end))) return 0
  const words = wordsOf(bytes)
  const firstWord = Math.min(end, start + toWord(bytes, start))
  let tails = tailsIn(bytes, start, firstWord)
  const last = (bytes.byteOffset + end) >> 2
  let word = (bytes.byteOffset + firstWord) >> 2
  for (; word < last; word++) {
    const w = words[word] as number
    if ((w & 0x80808080) !== 0) tails += countLanes(w & ~(w << 1) & 0x80808080)
  }
  return tails + tailsIn(bytes, Math.max(firstWord, (word << 2) - bytes.byteOffset), end)
}

function tailsIn(bytes: Uint8Array, start: number, end: number): number {
  let tails = 0
  for (let pos = start; pos < end; pos++) if (((bytes[pos] as number) & 0xc0) === 0x80) tails++
  return tails
}

/** From `pos` to where a word begins. */
const toWord = (bytes: Uint8Array, pos: number): number =>
  (WORD_BYTES - ((bytes.byteOffset + pos) % WORD_BYTES)) % WORD_BYTES

/** Lines in `[start, end)`, which must begin at a line's start. */
export function countLines(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const { newlines } = measureText(bytes, start, end)
  return end > start && bytes[end - 1] !== LF ? newlines + 1 : newlines
}

/** Code points of a JavaScript string; a lone surrogate counts as one. */
export function charsOf(text: string): number {
  let chars = text.length
  // In most texts there is none, which a search tells sooner, and of a text without any unit past U+00FF at once.
  if (!HIGH_SURROGATE.test(text)) return chars
  for (let i = 0; i < text.length - 1; i++) {
    const unit = text.charCodeAt(i)
    if (unit >= 0xd800 && unit < 0xdc00) {
      const next = text.charCodeAt(i + 1)
      if (next >= 0xdc00 && next < 0xe000) {
        chars--
        i++
      }
    }
  }
  return chars
}

/** The first `chars` code points of `text`. */
export function firstChars(text: string, chars: number): string {
  let end = 0
  for (let n = 0; n < chars && end < text.length; n++)
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1
  return text.slice(0, end)
}

/** The last `chars` code points of `text`. */
export function lastChars(text: string, chars: number): string {
  let start = text.length
  for (let n = 0; n < chars && start > 0; n++) {
    const pair = start > 1 && (text.codePointAt(start - 2) as number) > 0xffff
    start -= pair ? 2 : 1
  }
  return text.slice(start)
}

const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80

/** Where the longest prefix of at most `budgetBytes` that splits no code point ends. */
export function clipHead(bytes: Uint8Array, budgetBytes: number): number {
  if (bytes.length <= budgetBytes) return bytes.length
  let end = budgetBytes
  while (end > 0 && isContinuation(bytes[end])) end--
  return end
}

/** Where the longest suffix of at most `budgetBytes` that splits no code point starts; `bytes` may itself start inside one. */
export function clipTail(bytes: Uint8Array, budgetBytes: number): number {
  let start = Math.max(0, bytes.length - budgetBytes)
  while (isContinuation(bytes[start])) start++
  return start
}

/** The offset after `chars` code points from `start`, at most `end`. */
export function advanceChars(
  bytes: Uint8Array,
  { start = 0, end = bytes.length, chars }: { start?: number; end?: number; chars: number },
): number {
  let pos = start
  for (let left = chars; left > 0 && pos < end; left--) {
    pos++
    while (pos < end && isContinuation(bytes[pos])) pos++
  }
  return pos
}

/** Where the first byte that begins no valid code point stands, or -1. */
export function invalidUtf8At(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1
  // All before `pos` is valid; halving comes near the fault, the rest is walked.
  let pos = 0
  let high = bytes.length
  while (high - pos > WALK_BYTES) {
    const middle = clipHead(bytes, (pos + high) >>> 1)
    if (middle > pos && isUtf8(bytes.subarray(pos, middle))) pos = middle
    else high = Math.max(pos, middle)
  }
  for (;;) {
    const next = pos + sequenceBytes(bytes[pos] as number)
    if (!isUtf8(bytes.subarray(pos, next))) return pos
    pos = next
  }
}

/** How long the code point is that begins with `lead`. */
const sequenceBytes = (lead: number): number =>
  lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
