/**
 * Lists of runs and of results, a page at a time. A page ends before its JSON is longer than the limit on lists.
 */
import type { Result, RunRef } from '../ledger/ledger.ts'
import type { Page, ResultsQuery, RunsQuery } from '../ledger/lists.ts'
import { type ResultDescription, resultDescription } from './answer.ts'
import { type RunContext, readableRun } from './context.ts'
import { type RunSummaryAnswer, summaryAnswer } from './lifecycle.ts'

/** What a caller may ask of a list; the bound is the service's. */
type Asked<Query> = Omit<Query, 'bound'>

/** A result in a list. */
export type ListedResult = Omit<ResultDescription, 'preview'> & {
  /** Null when a page cannot hold it. */
  readonly preview: string | null
}

/** Throws `invalid_request` for an `after` of another order. */
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

/** Throws `not_found`, `evicted`, and `invalid_request` for an `after` that is no page's `next`. */
export async function listResults(
  context: RunContext,
  ref: RunRef,
  query: Asked<ResultsQuery>,
): Promise<Page<ListedResult>> {
  await readableRun(context, ref)
  const { maxListBytes } = context.limits
  const answers: ListedResult[] = []
  // A preview that is left out counts too: it was read, and the rows after it may have such ones.
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
/** The comma between items; and what the names of an item's members are longer on the wire than in the ledger. */
const ITEM_BYTES = 32
