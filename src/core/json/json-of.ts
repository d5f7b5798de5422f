/** Looks whether bytes are JSON, where it is no fault when they are not. */
import { CoatcheckError } from '../errors.ts'
import { parseJson } from './scan.ts'
import type { JsonSlice } from './slice.ts'

/** The one JSON document in `bytes`, or undefined when they are none, or nest too deep. */
export function jsonOf(bytes: Buffer): JsonSlice | undefined {
  try {
    return parseJson(bytes)
  } catch (error) {
    if (!(error instanceof CoatcheckError)) throw error
    return undefined
  }
}
