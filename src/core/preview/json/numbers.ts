/**
 * Order of number tokens, exact for integers of any length; other numbers are compared as doubles.
 */
import type { Extent } from './shape.ts'

const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
/** Integers of so many digits are exact as doubles. */
const EXACT_DIGITS = 15

/** Whether the token is an integer without fraction and exponent. */
export function isInteger(bytes: Buffer, { start, end }: Extent): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  for (let pos = first; pos < end; pos++) {
    const byte = bytes[pos] ?? 0
    if (byte < ZERO || byte > NINE) return false
  }
  return true
}

/** Below 0 when `a` is the smaller number, 0 when they are equal. */
export function compareNumbers(bytes: Buffer, a: Extent, b: Extent): number {
  if (a.end - a.start > EXACT_DIGITS || b.end - b.start > EXACT_DIGITS) {
    if (isInteger(bytes, a) && isInteger(bytes, b)) return compareIntegers(bytes, a, b)
  }
  const difference = toNumber(bytes, a) - toNumber(bytes, b)
  return Number.isNaN(difference) ? 0 : difference
}

function compareIntegers(bytes: Buffer, a: Extent, b: Extent): number {
  const signs = [bytes[a.start] === MINUS, bytes[b.start] === MINUS]
  if (signs[0] !== signs[1]) return signs[0] ? -1 : 1
  const [largerA, largerB] = signs[0] ? [b, a] : [a, b]
  const byLength = largerA.end - largerA.start - (largerB.end - largerB.start)
  if (byLength !== 0) return byLength
  return bytes.compare(bytes, largerB.start, largerB.end, largerA.start, largerA.end)
}

function toNumber(bytes: Buffer, { start, end }: Extent): number {
  const isNegative = bytes[start] === MINUS
  const first = isNegative ? start + 1 : start
  if (end - first > EXACT_DIGITS) return Number(bytes.toString('latin1', start, end))
  let value = 0
  for (let pos = first; pos < end; pos++) {
    const byte = bytes[pos] ?? 0
    if (byte < ZERO || byte > NINE) return Number(bytes.toString('latin1', start, end))
    value = value * 10 + (byte - ZERO)
  }
  return isNegative ? -value : value
}
