/**
 * What a JSON text will be as objects, told from its bytes alone: how much of the heap it takes at most, and whether doubles
 * hold its numbers. A thread that runs out of heap while it parses takes the process along, so this is asked before.
 */
import { type JsonSlice, skipString } from '../core/json/slice.ts'
import { isExact } from './decimal.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b
const LOWER_E = 0x65
const TO_LOWER = 0x20

/** The text itself, at two bytes a character where one is not enough, and its strings once more. */
const HEAP_PER_BYTE = 3
/** An object with room for a few members, or an array. */
const HEAP_PER_CONTAINER = 80
/** A place in one, a number or a string's header in it, and what growing it leaves behind. */
const HEAP_PER_ITEM = 40
/** A token that is kept beside its double. */
const HEAP_PER_ROUNDED = 200
/** Numbers of fewer characters, without an exponent, are exact. */
const EXACT_CHARS = 15

export interface Weight {
  /** An upper bound. */
  readonly heapBytes: number
  /** Numbers that a double does not hold as written. */
  readonly rounded: number
}

export function weigh({ bytes, start, end }: JsonSlice): Weight {
  let heapBytes = (end - start) * HEAP_PER_BYTE + HEAP_PER_ITEM
  let rounded = 0
  let pos = start
  while (pos < end) {
    const byte = bytes[pos] as number
    if (byte === QUOTE) {
      pos = skipString(bytes, pos)
      continue
    }
    if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const after = numberEnd(bytes, pos, end)
      if (isRounded(bytes, pos, after)) rounded++
      pos = after
      continue
    }
    if (byte === COMMA) heapBytes += HEAP_PER_ITEM
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT)
      heapBytes += HEAP_PER_CONTAINER + HEAP_PER_ITEM
    pos++
  }
  return { heapBytes: heapBytes + rounded * HEAP_PER_ROUNDED, rounded }
}

const DIGIT_OR_SIGN: ReadonlySet<number> = new Set(Buffer.from('0123456789+-.eE'))

function numberEnd(bytes: Buffer, start: number, end: number): number {
  let pos = start + 1
  while (pos < end && DIGIT_OR_SIGN.has(bytes[pos] as number)) pos++
  return pos
}

function isRounded(bytes: Buffer, start: number, end: number): boolean {
  if (end - start <= EXACT_CHARS && !hasExponent(bytes, start, end)) return false
  return !isExact(bytes.toString('latin1', start, end))
}

function hasExponent(bytes: Buffer, start: number, end: number): boolean {
  for (let pos = start; pos < end; pos++) {
    if (((bytes[pos] as number) | TO_LOWER) === LOWER_E) return true
  }
  return false
}
