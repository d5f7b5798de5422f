/**
 * The view of the inside of a string token, measured and cut without decoding it: its text, each lone surrogate as U+FFFD.
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

export interface StringPart {
  /** Where it ends. */
  readonly pos: number
  readonly viewBytes: number
  readonly chars: number
  readonly newlines: number
  /** How many of those line ends have a `\r` before them. */
  readonly crlfs: number
  readonly endsLine: boolean
}

interface WalkedPart extends Omit<StringPart, 'chars'> {
  readonly escapedTails: number
}

/**
 * The part of a string token from `from`, which splits nothing, to the first place at or after `target` that splits no
 * escape, surrogate pair, code point or CR LF; to the closing quote at most.
 */
export function measureStringPart(bytes: Buffer, from: number, target: number): StringPart {
  const { escapedTails, ...part } = walk(bytes, from, target)
  // Escapes are ASCII: of the source only plain text has more bytes than characters.
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

export interface StringMeasure {
  /** UTF-8 bytes of the text. */
  readonly bytes: number
  /** Its lines as Rust's `str::lines` has them. */
  readonly lines: number
}

/** The size of the text of a string token. */
export function measureString({ bytes, start, end }: JsonSlice): StringMeasure {
  const { viewBytes, newlines, endsLine } = walk(bytes, start + 1, end - 1)
  return { bytes: viewBytes, lines: viewBytes > 0 && !endsLine ? newlines + 1 : newlines }
}

function onCodePoint(bytes: Buffer, from: number): number {
  let pos = from
  while (((bytes[pos] as number) & 0xc0) === 0x80) pos++
  return pos
}
