/** Sets of code points, read from the tables of ranges that ship with the source. */

const RADIX_OF_DELTAS = 36

/**
 * Tells whether a code point is in the set. `deltas` are boundaries of ranges, as
 * `scripts/unicode-ranges.ts` writes them.
 */
export function codePointSet(deltas: string): (codePoint: number) => boolean {
  const boundaries = decodeDeltas(deltas)
  return (codePoint) => {
    // Inside a range, an odd number of boundaries lies at or before the code point.
    let low = 0
    let high = boundaries.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((boundaries[middle] ?? Infinity) <= codePoint) low = middle + 1
      else high = middle
    }
    return low % 2 === 1
  }
}

/** Starts and ends (exclusive) of the ranges, ascending. */
function decodeDeltas(deltas: string): Int32Array {
  let sum = 0
  return Int32Array.from(deltas.trim().split(/\s/), (delta) => {
    sum += Number.parseInt(delta, RADIX_OF_DELTAS)
    return sum
  })
}
