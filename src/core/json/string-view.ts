/**
 * Measures and cuts the text of a string token without decoding it. Each lone surrogate counts as
 * U+FFFD.
 */
import { countTails, wordsOf } from '../text.ts'
import { escapeBytes, escapedCode, nextSpecial, utf8Bytes } from './escape.ts'
import type { JsonSlice } from './slice.ts'

const QUOTE = 0x22
const LOWER_N = 0x6e
const LOWER_R = 0x72
const LOWER_U = 0x75
const SHORT_ESCAPE_BYTES = 2
const LF = 0x0a
const CR = 0x0d

/** Size of a part of a string token's text. */
export interface StringPart {
  /** Source position of its end. */
  readonly pos: number
  readonly viewBytes: number
  readonly chars: number
  readonly newlines: number
  /** Line ends that have a `\r` before them. */
  readonly crlfs: number
  readonly endsLine: boolean
}

interface WalkedPart extends Omit<StringPart, 'chars'> {
  readonly escapedTails: number
}

/**
 * Measures the part of a string token from `from` to the first position at or after `target` that
 * splits no escape, surrogate pair, code point or CR LF, or to the closing quote. `from` must split
 * nothing either.
 */
export function measureStringPart(bytes: Buffer, from: number, target: number): StringPart {
  const { escapedTails, ...part } = walk(bytes, from, target)
  // Escapes are ASCII, so only plain text has more bytes than characters.
  return { ...part, chars: part.viewBytes - escapedTails - countTails(bytes, from, part.pos) }
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a loop over bytes; calls in it would cost as much again
function walk(bytes: Buffer, from: number, target: number): WalkedPart {
  const words = wordsOf(bytes)
  let growth = 0
  let tails = 0
  let newlines = 0
  let crlfs = 0
  let pos = from
  let lastEnd = -1
  let lastCode = 0
  for (;;) {
    const special = pos < target ? nextSpecial(bytes, words, pos, target) : pos
    if (special > pos) pos = onCodePoint(bytes, special)
    if (bytes[pos] === QUOTE) break
    const afterCr = lastEnd === pos && lastCode === CR
    if (pos >= target && !afterCr) break
    const letter = bytes[pos + 1]
    if (letter !== LOWER_U && letter !== LOWER_N && letter !== LOWER_R && pos < target) {
      growth--
      pos += SHORT_ESCAPE_BYTES
      continue
    }
    const code = escapedCode(bytes, pos)
    if (pos >= target && code !== LF) break
    const taken = escapeBytes(bytes, pos, code)
    const size = utf8Bytes(code)
    growth += size - taken
    tails += size - 1
    if (code === LF) {
      newlines++
      if (afterCr) crlfs++
    }
    pos += taken
    lastEnd = pos
    lastCode = code
  }
  const viewBytes = pos - from + growth
  const endsLine = lastEnd === pos && lastCode === LF
  return { pos, viewBytes, escapedTails: tails, newlines, crlfs, endsLine }
}

/** Size of a string token's text. */
export interface StringMeasure {
  /** UTF-8 bytes of the text. */
  readonly bytes: number
  /** Lines as Rust's `str::lines` counts them. */
  readonly lines: number
}

/** Measures the text of a string token. */
export function measureString({ bytes, start, end }: JsonSlice): StringMeasure {
  const { viewBytes, newlines, endsLine } = walk(bytes, start + 1, end - 1)
  return { bytes: viewBytes, lines: viewBytes > 0 && !endsLine ? newlines + 1 : newlines }
}

function onCodePoint(bytes: Buffer, from: number): number {
  let pos = from
  while (((bytes[pos] as number) & 0xc0) === 0x80) pos++
  return pos
}
