/**
 * Estimates the heap that a JSON text needs as objects, from its bytes alone, and whether doubles
 * hold its numbers. It is called before parsing, since a thread that runs out of heap while it
 * parses ends the whole process.
 */
import type { JsonSlice } from '../../core/json/slice.ts'
import { eachToken, isDoubtful, isNumber, isRounded } from './number-tokens.ts'

const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/**
 * Bytes for the text itself, at two bytes a character if necessary, and for its strings once more.
 */
const HEAP_PER_BYTE = 3
/**
 * Bytes for a slot in an array or object, a number or the header of a string in it, and the garbage
 * of growing it.
 */
const HEAP_PER_ITEM = 48
/** Bytes for an array, or an object with room for a few members, and for its first item. */
const HEAP_PER_CONTAINER = 120
/** Bytes for a token that is kept beside its double. */
const HEAP_PER_TOKEN = 200

/** Estimate for a JSON text. */
export interface Weight {
  /** Upper bound in bytes. Counting stops once it exceeds the limit. */
  readonly heapBytes: number
  /** True when doubles would round one of the numbers. */
  readonly isRounded: boolean
}

/**
 * Estimates a JSON text. Beyond `limitBytes` it stops, and `isRounded` covers only the part that
 * was read.
 */
export function weigh(source: JsonSlice, limitBytes = Number.POSITIVE_INFINITY): Weight {
  const { bytes } = source
  let heapBytes = (source.end - source.start) * HEAP_PER_BYTE + HEAP_PER_ITEM
  let doubtful = 0
  let hasRounded = false
  eachToken(source, (first, start, end) => {
    if (first === COMMA) heapBytes += HEAP_PER_ITEM
    else if (first === OPEN_ARRAY || first === OPEN_OBJECT) heapBytes += HEAP_PER_CONTAINER
    else if (isNumber(first) && isDoubtful(bytes, start, end)) {
      doubtful++
      hasRounded ||= isRounded(bytes, start, end)
    }
    return heapBytes <= limitBytes
  })
  if (hasRounded) heapBytes += doubtful * HEAP_PER_TOKEN
  return { heapBytes, isRounded: hasRounded }
}
