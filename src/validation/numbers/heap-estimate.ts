/**
 * What a JSON text will be as objects, told from its bytes alone: how much of the heap it takes at most, and whether doubles
 * hold its numbers. A thread that runs out of heap while it parses takes the process along, so this is asked before.
 */
import type { JsonSlice } from '../../core/json/slice.ts'
import { eachToken, isDoubtful, isNumber, isRounded } from './number-tokens.ts'

const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** The text itself, at two bytes a character where one is not enough, and its strings once more. */
const HEAP_PER_BYTE = 3
/** A place in an array or object, a number or a string's header in it, and what growing it leaves behind. */
const HEAP_PER_ITEM = 48
/** An object with room for a few members, or an array; and its first item. */
const HEAP_PER_CONTAINER = 120
/** A token that is kept beside its double. */
const HEAP_PER_TOKEN = 200

export interface Weight {
  /** An upper bound. One past the limit is told as soon as it is known. */
  readonly heapBytes: number
  /** Whether a double holds another number than was written. */
  readonly isRounded: boolean
}

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
