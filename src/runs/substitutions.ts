/**
 * Values that replace references. Small values are read at once. Of larger values only the length
 * is determined, and their bytes are read from the ledger when they are sent. So a value is never
 * in memory as a whole just to be passed on.
 */
import type { JsonSlice } from '../core/json/slice.ts'
import { joinParts, type Part } from '../core/json/splice.ts'
import { encodeInside, insideBytes } from '../core/json/text-token.ts'
import { CHUNK_BYTES } from '../core/limits.ts'
import type { Result } from '../ledger/ledger.ts'
import type { RunContext } from './context.ts'
import { jsonSpanOf, valueBytes } from './results.ts'

const QUOTE = Buffer.from('"')
const QUOTES_BYTES = 2

/**
 * Fewest bytes that the value of an output adds to the arguments. Exact except for texts, whose
 * escapes are not counted.
 */
export function leastBytes(result: Result): number {
  const span = jsonSpanOf(result)
  return span === undefined ? result.totalBytes + QUOTES_BYTES : span.end - span.start
}

/**
 * A whole JSON value, or a text as a JSON string. Throws `evicted`, `not_found` and
 * `ledger_corrupt`.
 */
export async function wholeInsert(context: RunContext, result: Result): Promise<Part> {
  const span = jsonSpanOf(result)
  const part =
    span === undefined ? await textPart(context, result) : spanPart(context, result, span)
  return leastBytes(result) > CHUNK_BYTES ? part : joinParts([part])
}

/** A part of a JSON value. A large one does not keep the buffer that it was found in. */
export function sliceInsert(context: RunContext, result: Result, slice: JsonSlice): Part {
  const isLarge = slice.end - slice.start > CHUNK_BYTES
  return isLarge ? spanPart(context, result, slice) : slice.source
}

interface Span {
  readonly start: number
  readonly end: number
}

function spanPart(context: RunContext, result: Result, { start, end }: Span): Part {
  return { totalBytes: end - start, read: () => valueBytes(context, result, { start, end }) }
}

/** A text as a JSON string. It is read once to measure it, and again when it is sent. */
async function textPart(context: RunContext, result: Result): Promise<Part> {
  const span = { start: 0, end: result.totalBytes }
  let totalBytes = QUOTES_BYTES
  for await (const bytes of valueBytes(context, result, span)) totalBytes += insideBytes(bytes)
  async function* read(): AsyncGenerator<Buffer> {
    yield QUOTE
    for await (const bytes of valueBytes(context, result, span)) yield encodeInside(bytes)
    yield QUOTE
  }
  return { totalBytes, read }
}
