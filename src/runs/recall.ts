/** Recall: pages of a result's text view, read from the chunks that contain them. */
import { CoatcheckError } from '../core/errors.ts'
import { handleOf } from '../core/handles.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import {
  continuation,
  continuationChars,
  cutPage,
  type RecallCall,
  type RecallPage,
} from '../core/recall/page.ts'
import {
  type Asked,
  boundRecall,
  parseRecall,
  type Span,
  type ViewSize,
} from '../core/recall/request.ts'
import { renderView } from '../core/view/view.ts'
import type { Result, RunRef } from '../ledger/ledger.ts'
import { type RunContext, readableRun } from './context.ts'

const LF = 0x0a

/** Answer to a recall. */
export interface RecallAnswer {
  /**
   * For the model: the content and, when there is more, a last line with the call for the next
   * page.
   */
  readonly text: string
  /** For programs: joined pages are the whole view. */
  readonly content: string
  readonly evidence_id: string
  readonly range: Span | null
  readonly chars: Span
  readonly total_lines: number
  readonly total_chars: number
  readonly truncated: boolean
  readonly next: RecallCall | null
  readonly ignored: readonly string[]
}

/**
 * Answers a recall. Throws `not_found`, `evicted`, `no_text_view`, `invalid_range` and
 * `invalid_request`.
 */
export async function recall(
  context: RunContext,
  ref: RunRef,
  body: JsonSlice,
): Promise<RecallAnswer> {
  const request = parseRecall(body)
  const run = await readableRun(context, ref)
  const result = await resultByRecall(context, ref, request.id)
  const size = sizeOf(result)
  const asked = boundRecall(request, size)
  const maxChars = run.verbatimLimitChars
  // A long id without a handle in its place may fill a page. Then the note exceeds the limit, but
  // the page still has content.
  const noteChars = Math.min(continuationChars(result.recallName, size), maxChars / 2)
  const page = await readPage(context, result, asked, { maxChars, noteChars })
  const next = await nextCall(context, result, asked, page)
  return {
    text: textOf(page, size, next),
    content: page.content,
    evidence_id: result.evidenceId,
    range: page.lines,
    chars: page.chars,
    total_lines: size.totalLines,
    total_chars: size.totalChars,
    truncated: next !== null,
    next,
    ignored: request.ignored,
  }
}

async function resultByRecall(context: RunContext, ref: RunRef, id: string): Promise<Result> {
  const result = id.isWellFormed()
    ? await context.ledger.findResult(ref, { recall: id })
    : undefined
  if (result !== undefined) return result
  const run = await context.ledger.findRun(ref, context.now())
  const has = run?.results === 1 ? 'is 1 result (r1)' : `are ${run?.results ?? 0} results`
  throw new CoatcheckError(
    'not_found',
    `There is no evidence ${clippedId(id)} in the run ${JSON.stringify(ref.run)}, where there ${has}. An id is recalled exactly as it was put; a handle (r1) works too.`,
  )
}

const SHOWN_ID_CHARS = 80
const clippedId = (id: string): string =>
  JSON.stringify(
    id.length > SHOWN_ID_CHARS
      ? `${id.slice(0, SHOWN_ID_CHARS)}…`.toWellFormed()
      : id.toWellFormed(),
  )

function sizeOf(result: Result): ViewSize {
  const { totalChars, totalLines } = result
  if (totalChars !== null && totalLines !== null) return { totalChars, totalLines }
  const handle = handleOf(result.number)
  throw new CoatcheckError(
    'no_text_view',
    `${handle} is binary (${result.mediaType}) and has no lines to recall. Read its bytes: GET /v1/runs/{run_id}/results/${handle}/value.`,
  )
}

/**
 * Reads chunks from the start of the page until the page can be cut. Each attempt to cut reads all
 * bytes again, so it is made after 1, 2, 4, … chunks.
 */
async function readPage(
  context: RunContext,
  result: Result,
  asked: Asked,
  limit: { readonly maxChars: number; readonly noteChars: number },
): Promise<RecallPage> {
  const seek = asked.unit === 'lines' ? { line: asked.start } : { char: asked.start }
  const views: Buffer[] = []
  let enough = 1
  let first: { readonly firstLine: number; readonly firstChar: number } | undefined
  for await (const chunk of context.ledger.chunks(result, seek)) {
    first ??= chunk
    views.push(renderView(chunk, result.view))
    const last = chunk.firstByte + chunk.bytes.length >= result.totalBytes
    if (views.length < enough && !last) continue
    enough *= 2
    const { firstLine, firstChar } = first
    const bytes = Buffer.concat(views)
    const page = cutPage({ bytes, firstLine, firstChar, last }, asked, limit)
    if (page !== undefined) return page
  }
  throw new CoatcheckError('not_found', 'The result was erased while it was being read.')
}

async function nextCall(
  context: RunContext,
  result: Result,
  asked: Asked,
  { next }: RecallPage,
): Promise<RecallCall | null> {
  if (next === null) return null
  const id = result.recallName
  const end = next.end ?? (await charAfterLine(context, result, asked.end))
  const span = { start: next.start, end }
  return next.unit === 'lines' ? { id, range: span } : { id, chars: span }
}

/**
 * Number of characters of the view up to the end of a line, its line end included. Lines start at
 * 1.
 */
async function charAfterLine(context: RunContext, result: Result, line: number): Promise<number> {
  if (line >= (result.totalLines as number)) return result.totalChars as number
  const page = await readPage(
    context,
    result,
    { unit: 'lines', start: line + 1, end: line + 1 },
    { maxChars: 1, noteChars: 0 },
  )
  return page.chars.start
}

function textOf(page: RecallPage, { totalLines }: ViewSize, next: RecallCall | null): string {
  if (next === null || page.lines === null) return page.content
  const lineEnd = page.content.charCodeAt(page.content.length - 1) === LF ? '' : '\n'
  return page.content + lineEnd + continuation(page.lines, totalLines, next)
}
