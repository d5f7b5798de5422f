/**
 * Pages of lists of runs and of results. A page ends early when its JSON would exceed the limit on
 * lists.
 */
import type { Result, RunRef } from '../ledger/ledger.ts'
import type { Page, ResultsQuery, RunsQuery } from '../ledger/lists.ts'
import { type ResultDescription, resultDescription } from './answer.ts'
import { type RunContext, readableRun } from './context.ts'
import { type RunSummaryAnswer, summaryAnswer } from './lifecycle.ts'

/** Query without the bound, which the service sets. */
type Asked<Query> = Omit<Query, 'bound'>

/** A result in a list. */
export type ListedResult = Omit<ResultDescription, 'preview'> & {
  /** Null when it is too large for a page. */
  readonly preview: string | null
}

/** Lists the runs of a tenant. Throws `invalid_request` when `after` belongs to another order. */
export async function listRuns(
  context: RunContext,
  tenant: string,
  query: Asked<RunsQuery>,
): Promise<Page<RunSummaryAnswer>> {
  const { ledger, limits, now } = context
  const bound = { maxBytes: limits.maxListBytes, bytesOf: jsonBytes }
  const { items, next } = await ledger.listRuns(tenant, { ...query, bound }, now())
  return { items: items.map(summaryAnswer), next }
}

/**
 * Lists the results of a run. Throws `not_found` and `evicted`, and `invalid_request` when `after`
 * is not the `next` of a page.
 */
export async function listResults(
  context: RunContext,
  ref: RunRef,
  query: Asked<ResultsQuery>,
): Promise<Page<ListedResult>> {
  await readableRun(context, ref)
  const { maxListBytes } = context.limits
  const answers: ListedResult[] = []
  // A preview that was left out counts as well: it was read, and later rows may have previews as
  // large.
  const bytesOf = (result: Result): number => {
    const { item, bytes } = listedResult(ref, result, maxListBytes)
    answers.push(item)
    return Math.max(bytes, result.preview.length)
  }
  const bound = { maxBytes: maxListBytes, bytesOf }
  const { items, next } = await context.ledger.listResults(ref, { ...query, bound })
  return { items: answers.slice(0, items.length), next }
}

/** The result as its page shows it, and the bytes of its JSON. */
function listedResult(
  ref: RunRef,
  result: Result,
  maxBytes: number,
): { readonly item: ListedResult; readonly bytes: number } {
  const item = resultDescription(ref, result)
  const bytes = item.preview.length > maxBytes ? Number.POSITIVE_INFINITY : jsonBytes(item)
  if (bytes <= maxBytes) return { item, bytes }
  const without = { ...item, preview: null }
  return { item: without, bytes: jsonBytes(without) }
}

const jsonBytes = (item: object): number => Buffer.byteLength(JSON.stringify(item)) + ITEM_BYTES
/**
 * Bytes for the comma between items, and for names of members that are longer on the wire than in
 * the ledger.
 */
const ITEM_BYTES = 32
