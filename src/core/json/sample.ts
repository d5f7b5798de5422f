/**
 * The first and last elements of an array, in one walk that keeps no more than those.
 */
import { JsonSlice, skipSpace, skipValue } from './slice.ts'

const COMMA = 0x2c
const CLOSE_ARRAY = 0x5d

export interface ArraySample {
  /** All elements. */
  readonly count: number
  readonly head: readonly JsonSlice[]
  readonly tail: readonly JsonSlice[]
}

/** The first `headItems` and the last `tailItems` elements in order, fewer where there are fewer; they may overlap. */
export function sampleArray(array: JsonSlice, headItems: number, tailItems: number): ArraySample {
  const { bytes, start, end } = array
  const head: JsonSlice[] = []
  const lastStarts: number[] = []
  let count = 0
  let pos = skipSpace(bytes, start + 1, end)
  while (bytes[pos] !== CLOSE_ARRAY) {
    const valueEnd = skipValue(bytes, pos, end)
    if (count < headItems) head.push(new JsonSlice(bytes, pos, valueEnd))
    lastStarts[count % tailItems] = pos
    count++
    pos = skipSpace(bytes, valueEnd, end)
    if (bytes[pos] === COMMA) pos = skipSpace(bytes, pos + 1, end)
  }
  const tail = lastStarts
    .toSorted((a, b) => a - b)
    .map((from) => new JsonSlice(bytes, from, skipValue(bytes, from, end)))
  return { count, head, tail }
}
