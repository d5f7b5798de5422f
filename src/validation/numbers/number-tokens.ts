/** Walks the tokens of a JSON text other than its strings, at any depth. */
import { type JsonSlice, skipString, skipValue } from '../../core/json/slice.ts'
import { isExact } from './decimal.ts'

const SPACE = 0x20
const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const LOWER_E = 0x65
/** Numbers of at most so many characters without an exponent are exact as doubles. */
const EXACT_CHARS = 15

/**
 * Calls `visit` for every number, literal and punctuation mark, with its first byte and its range:
 * byte positions from 0, the end excluded. Stops when `visit` returns false.
 */
export function eachToken(
  { bytes, start, end }: JsonSlice,
  visit: (first: number, start: number, end: number) => boolean,
): void {
  let pos = start
  while (pos < end) {
    const first = bytes[pos] as number
    if (first === QUOTE) pos = skipString(bytes, pos)
    else if (first <= SPACE) pos++
    else {
      const after = isNumber(first) ? skipValue(bytes, pos, end) : pos + 1
      if (!visit(first, pos, after)) return
      pos = after
    }
  }
}

/** Whether a token with the first byte `first` is a number. */
export const isNumber = (first: number): boolean =>
  first === MINUS || (first >= ZERO && first <= NINE)

/** Whether only the digits can tell if a double holds the number. */
export function isDoubtful(bytes: Buffer, start: number, end: number): boolean {
  if (end - start > EXACT_CHARS) return true
  for (let pos = start; pos < end; pos++) {
    if (((bytes[pos] as number) | SPACE) === LOWER_E) return true
  }
  return false
}

/** Whether a double that holds the number is written in another way: `2.50`, `1e2`, `-0`. */
export function isRespelled(bytes: Buffer, start: number, end: number): boolean {
  const token = bytes.toString('latin1', start, end)
  return String(Number(token)) !== token
}

/** Whether a double would round the number. */
export const isRounded = (bytes: Buffer, start: number, end: number): boolean =>
  isDoubtful(bytes, start, end) && !isExact(bytes.toString('latin1', start, end))
