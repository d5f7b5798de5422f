/**
 * JSON that may be no JSON: a model's answer, or the arguments a model wrote.
 */
import { CoatcheckError } from '../errors.ts'
import { parseJson } from '../json/scan.ts'
import type { JsonSlice } from '../json/slice.ts'

/** The document in `text`; undefined when there is none, or it nests too deep. */
export function jsonIn(text: string): JsonSlice | undefined {
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (!(error instanceof CoatcheckError)) throw error
    return undefined
  }
}
