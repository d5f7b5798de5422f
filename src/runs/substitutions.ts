/**
 * What is put in the place of references. Small values are read at once; of larger ones only the length is found out, and
 * their bytes are read from the ledger when they are sent, so that a value never has to be in memory as a whole to be
 * passed on.
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

/** The least that an output's value adds; exact but for a text, whose escapes are not counted. */
export function leastBytes(result: Result): number {
  const span = jsonSpanOf(result)
  return span === undefined ? result.totalBytes + QUOTES_BYTES : span.end - span.start
}

/** All of a JSON value, or of a text as the string it is. Errors: `evicted`, `not_found`, `ledger_corrupt`. */
export async function wholeInsert(context: RunContext, result: Result): Promise<Part> {
  const span = jsonSpanOf(result)
  const part =
    span === undefined ? await textPart(context, result) : spanPart(context, result, span)
  return leastBytes(result) > CHUNK_BYTES ? part : joinParts([part])
}

/** A part of a JSON value that was read to find it; a large one lets go of what was read. */
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

/** Read twice when it is large: once to measure it. */
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
