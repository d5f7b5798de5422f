/** Reads results: bytes of the value, a part by path, the text view, and the content again. */

import type { Render } from '../core/content.ts'
import { CoatcheckError } from '../core/errors.ts'
import { findPath, type Path, pointerSegments } from '../core/json/path.ts'
import { JsonSlice } from '../core/json/slice.ts'
import { renderView } from '../core/view/view.ts'
import type { ChunkSeek, Result } from '../ledger/ledger.ts'
import { type ContentAnswer, contentAnswer } from './answer.ts'
import { type RunContext, requireInline } from './context.ts'
import { erased, joined, partsRead } from './parts.ts'
import { planContent, type WholeValue } from './render.ts'

/**
 * Content of a result in any rendering, with the same bytes as at its put. Throws `LargeWork`,
 * `over_limit`, and `not_found` when the value is erased meanwhile.
 */
export async function contentOf(
  context: RunContext,
  result: Result,
  render: Render,
): Promise<ContentAnswer> {
  const readWhole = async (): Promise<WholeValue> => {
    requireInline(context, result.totalBytes)
    const value = await readValue(context, result)
    return { value, json: jsonOf(result, value) }
  }
  const readPart = partsRead((seek) => context.ledger.chunks(result, seek), result.view)
  const plan = await planContent({ ...result, readWhole, readPart }, render, context.limits)
  return contentAnswer(result, plan)
}

/** Reads the whole value. */
export function readValue(context: RunContext, result: Result): Promise<Buffer> {
  return joined(context.ledger.chunks(result, { byte: 0 }), result.totalBytes)
}

/** Yields bytes `[start, end)` of the value, one chunk at a time. Positions are in bytes from 0. */
export async function* valueBytes(
  context: RunContext,
  result: Result,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  let pos = start
  if (pos >= end) return
  for await (const chunk of context.ledger.chunks(result, { byte: start })) {
    const from = pos - chunk.firstByte
    const piece = chunk.bytes.subarray(from, Math.min(chunk.bytes.length, end - chunk.firstByte))
    yield piece
    pos += piece.length
    if (pos >= end) return
  }
  throw erased()
}

/**
 * Yields bytes `[start, end)` of the text view, one chunk at a time. Positions are in bytes from 0.
 * For a text, and for a view in ASCII, reading begins at the chunk that contains `start`. Other
 * views are rendered from their start.
 */
export async function* viewBytes(
  context: RunContext,
  result: Result,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  const { view } = result
  const ascii = result.viewBytes === result.totalChars
  const seek: ChunkSeek =
    view.form === 'text' ? { byte: view.start + start } : ascii ? { char: start } : { byte: 0 }
  let pos: number | undefined
  if (start >= end) return
  for await (const chunk of context.ledger.chunks(result, seek)) {
    pos ??= 'char' in seek ? chunk.firstChar : Math.max(0, chunk.firstByte - view.start)
    const piece = renderView(chunk, view)
    const from = Math.max(0, start - pos)
    if (from < piece.length) yield piece.subarray(from, end - pos)
    pos += piece.length
    if (pos >= end) return
  }
  throw erased()
}

/** The JSON in a value; undefined when it is not JSON. */
export function jsonOf(result: Result, value: Buffer): JsonSlice | undefined {
  const span = jsonSpanOf(result)
  return span && new JsonSlice(value, span.start, span.end)
}

/**
 * Range of the JSON in a value, in bytes from 0, without white space around it. Undefined when the
 * value is not JSON.
 */
export function jsonSpanOf({
  view,
  outcome,
  totalBytes,
}: Result): { readonly start: number; readonly end: number } | undefined {
  if (outcome !== 'output') return { start: 0, end: totalBytes }
  if (view.form === 'json') return view
  return view.form === 'string' ? { start: view.start - 1, end: view.end + 1 } : undefined
}

/** Path of a part, dotted or as a JSON Pointer. */
export type SliceQuery = { readonly path: string } | { readonly pointer: string }

/**
 * Finds a part of a JSON value by its path. Throws `path_not_found` with the members that exist,
 * `invalid_request` for a malformed pointer, and `LargeWork`.
 */
export async function findSlice(
  context: RunContext,
  result: Result,
  query: SliceQuery,
): Promise<JsonSlice> {
  if (jsonSpanOf(result) === undefined) {
    throw new CoatcheckError(
      'path_not_found',
      `The result is a ${result.kind} body, not JSON: it has no paths. Read it whole, or by Range.`,
    )
  }
  const { path, shown } = pathOfQuery(query)
  requireInline(context, result.totalBytes)
  const json = jsonOf(result, await readValue(context, result)) as JsonSlice
  const found = findPath(json, path)
  if ('found' in found) return found.found
  const missing = JSON.stringify(found.missing.toWellFormed())
  const has = found.available.length === 0 ? 'nothing in it' : found.available.join(', ')
  throw new CoatcheckError(
    'path_not_found',
    `The path ${JSON.stringify(shown)} is not there: no ${missing} in the ${found.inside}, which has ${has}.`,
    { available: found.available },
  )
}

function pathOfQuery(query: SliceQuery): { path: Path; shown: string } {
  if ('path' in query) {
    const segments = query.path === '' ? [] : query.path.split('.')
    return { path: { segments, syntax: 'dotted' }, shown: query.path }
  }
  const segments = pointerSegments(query.pointer)
  if (segments !== undefined) return { path: { segments, syntax: 'pointer' }, shown: query.pointer }
  throw new CoatcheckError(
    'invalid_request',
    `${JSON.stringify(query.pointer)} is not a JSON Pointer: it must be empty or begin with "/", with ~0 for "~" and ~1 for "/".`,
  )
}
