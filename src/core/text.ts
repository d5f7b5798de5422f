/**
 * The one definition of bytes, characters and lines. It works on UTF-8 bytes, so nothing large is
 * decoded to be measured.
 *
 * Characters are Unicode code points. Lines are those of Rust's `str::lines`: text is split at
 * `\n`, one `\r` before it belongs to the line end, and a final line end opens no further line. All
 * functions expect valid UTF-8.
 */
import { isAscii, isUtf8 } from 'node:buffer'

const HIGH_SURROGATE = /[\ud800-\udbff]/
const LF = 0x0a
const CR = 0x0d
const WORD_BYTES = 4
/** Fewer bytes than this are read one by one, which is faster than by words. */
const WORDS_FROM_BYTES = 64
/** Bytes counted in one call. V8 optimizes a function only when it is called again. */
const BLOCK_BYTES = 16_384
/** Bisection stops this near to a fault in UTF-8. */
const WALK_BYTES = 64

/** Characters and line ends of a text. */
export interface TextMeasure {
  readonly chars: number
  /** Number of `\n`. */
  readonly newlines: number
}

/** Sums over a text. */
export interface TextSums extends TextMeasure {
  /** Number of `\n` with a `\r` before them. */
  readonly crlfs: number
}

/**
 * The buffer behind `bytes` as 32-bit words: a view, not a copy. The index of a position is
 * `(byteOffset + position) >> 2`.
 */
export function wordsOf(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
}

/** Sets the high bit of each byte lane that is zero. */
const zeroLanes = (w: number): number => ~(((w & 0x7f7f7f7f) + 0x7f7f7f7f) | w | 0x7f7f7f7f)

/** Number of lanes whose high bit is set. No other bit may be set. */
const countLanes = (highs: number): number => Math.imul(highs >>> 7, 0x01010101) >>> 24

/**
 * Counts code points, `\n`, and `\r\n` that lie whole in `[start, end)`. Reads four bytes at a
 * time.
 *
 * @example sumText(Buffer.from('a\r\né')) // { chars: 4, newlines: 1, crlfs: 1 }
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

/** The bytes `[pos, end)` of a count that began at `start`. */
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

/** As {@link sumBytes}, for whole words. */
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
    // True for words with a byte that is not ASCII or with a `\n`, and for a few others. Most words
    // are skipped here.
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

/** Sums of `before` and of a text after it. */
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

/** Bytes minus code points in `[start, end)`. */
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

/** Bytes from `pos` to the next aligned word. */
const toWord = (bytes: Uint8Array, pos: number): number =>
  (WORD_BYTES - ((bytes.byteOffset + pos) % WORD_BYTES)) % WORD_BYTES

/**
 * Lines in `[start, end)`. `start` must be the start of a line.
 *
 * @example countLines(Buffer.from('a\nb\n')) // 2
 */
export function countLines(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const { newlines } = measureText(bytes, start, end)
  return end > start && bytes[end - 1] !== LF ? newlines + 1 : newlines
}

/**
 * Code points of a string. A lone surrogate counts as one.
 *
 * @example charsOf('a😀') // 2
 */
export function charsOf(text: string): number {
  let chars = text.length
  // Most texts have no surrogates. A search finds that out faster than a loop, and at once for a
  // Latin-1 string.
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

/**
 * The first `chars` code points of `text`.
 *
 * @example firstChars('😀bc', 2) // '😀b'
 */
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

/** End of the longest prefix of at most `budgetBytes` that splits no code point. */
export function clipHead(bytes: Uint8Array, budgetBytes: number): number {
  if (bytes.length <= budgetBytes) return bytes.length
  let end = budgetBytes
  while (end > 0 && isContinuation(bytes[end])) end--
  return end
}

/**
 * Start of the longest suffix of at most `budgetBytes` that splits no code point. `bytes` may start
 * inside one.
 */
export function clipTail(bytes: Uint8Array, budgetBytes: number): number {
  let start = Math.max(0, bytes.length - budgetBytes)
  while (isContinuation(bytes[start])) start++
  return start
}

/** Position after `chars` code points from `start`, at most `end`. */
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

/** Position of the first byte that begins no valid code point, or -1. */
export function invalidUtf8At(bytes: Uint8Array): number {
  if (isUtf8(bytes)) return -1
  // Everything before `pos` is valid. Bisection comes near the fault, and a loop finds it.
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

/** Bytes of the code point whose first byte is `lead`. */
const sequenceBytes = (lead: number): number =>
  lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
