/**
 * Reads text that a model wrote and that may be JSON: an answer, or arguments.
 */
import { CoatcheckError } from '../errors.ts'
import { parseJson } from '../json/scan.ts'
import type { JsonSlice } from '../json/slice.ts'

/** The JSON document in `text`. Undefined when it is not JSON, or nests too deep. */
export function jsonIn(text: string): JsonSlice | undefined {
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof CoatcheckError)) throw error
    return undefined
  }
}
