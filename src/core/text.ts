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
/** How near bisection comes to a fault in UTF-8. */
const WALK_BYTES = 64
/** Words whose per-byte sums fit a byte lane each. */
const LANE_WORDS = 255

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

const foldLanes = (lanes: number): number =>
  (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24)

/** Counts code points and `\n` in `[start, end)`, four bytes at a time. */
export function measureText(bytes: Uint8Array, start = 0, end = bytes.length): TextMeasure {
  let continuations = 0
  let newlines = 0
  let pos = start
  const single = (until: number): void => {
    for (; pos < until; pos++) {
      const byte = bytes[pos] as number
      if ((byte & 0xc0) === 0x80) continuations++
      else if (byte === LF) newlines++
    }
  }
  if (end - start < WORDS_FROM_BYTES) {
    single(end)
    return { chars: end - start - continuations, newlines }
  }
  const base = bytes.byteOffset
  single(Math.min(end, start + ((WORD_BYTES - ((base + start) % WORD_BYTES)) % WORD_BYTES)))
  const words = wordsOf(bytes)
  let word = (base + pos) >> 2
  const lastWord = word + ((end - pos) >> 2)
  while (word < lastWord) {
    const stop = Math.min(lastWord, word + LANE_WORDS)
    let tails = 0
    let breaks = 0
    for (; word < stop; word++) {
      const w = words[word] as number
      tails += (w & ~(w << 1) & 0x80808080) >>> 7
      const v = w ^ 0x0a0a0a0a
      breaks += ~(((v & 0x7f7f7f7f) + 0x7f7f7f7f) | v | 0x7f7f7f7f) >>> 7
    }
    continuations += foldLanes(tails)
    newlines += foldLanes(breaks)
  }
  pos = Math.max(pos, (word << 2) - base)
  single(end)
  return { chars: end - start - continuations, newlines }
}

/** How many `\r\n` lie whole in `[start, end)`, four bytes at a time; a text without `\r` costs a search. */
export function countCrlf(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const first = bytes.indexOf(CR, start)
  if (first < 0 || first >= end) return 0
  let count = 0
  let pos = first + 1
  const single = (until: number): void => {
    for (; pos < until; pos++) if (bytes[pos] === LF && bytes[pos - 1] === CR) count++
  }
  const base = bytes.byteOffset
  single(Math.min(end, pos + ((WORD_BYTES - ((base + pos) % WORD_BYTES)) % WORD_BYTES)))
  const words = wordsOf(bytes)
  let word = (base + pos) >> 2
  const lastWord = word + ((end - pos) >> 2)
  let carried = bytes[pos - 1] === CR ? 0x80 : 0
  while (word < lastWord) {
    const stop = Math.min(lastWord, word + LANE_WORDS)
    let pairs = 0
    for (; word < stop; word++) {
      const w = words[word] as number
      const feeds = zeroLanes(w ^ 0x0a0a0a0a)
      const returns = zeroLanes(w ^ 0x0d0d0d0d)
      pairs += (feeds & ((returns << 8) | carried)) >>> 7
      carried = returns >>> 24
    }
    count += foldLanes(pairs)
  }
  pos = Math.max(pos, (word << 2) - base)
  single(end)
  return count
}

/** All that chunks tell of the text before them. */
export function sumText(bytes: Uint8Array, start = 0, end = bytes.length): TextSums {
  return { ...measureText(bytes, start, end), crlfs: countCrlf(bytes, start, end) }
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

/** The high bit of each byte lane that is zero. */
const zeroLanes = (w: number): number => ~(((w & 0x7f7f7f7f) + 0x7f7f7f7f) | w | 0x7f7f7f7f)

export function countChars(bytes: Uint8Array, start = 0, end = bytes.length): number {
  return measureText(bytes, start, end).chars
}

/** How many bytes more than code points there are in `[start, end)`. */
export function countTails(bytes: Uint8Array, start = 0, end = bytes.length): number {
  if (isAscii(bytes.subarray(start, end))) return 0
  return end - start - measureText(bytes, start, end).chars
}

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
