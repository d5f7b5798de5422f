/**
 * Lists of a ledger: what a page is asked by, and what it promises while rows change.
 *
 * A row that is there from the first page to the last is listed exactly once, as long as what the list is ordered and filtered
 * by does not change. In the order `last_request_at`, a run that is asked for between two pages moves to the newest end:
 * ascending it may be listed twice, descending not at all.
 */
import type { Kind, Outcome, Result, RunState, RunSummary } from './ledger.ts'

export const RUN_ORDERS = ['run_id', 'created_at', 'last_request_at'] as const
/** What runs are ordered by. Runs with the same time are ordered by their ids. */
export type RunOrder = (typeof RUN_ORDERS)[number]

/** Ends a page early: its items count for at most `maxBytes`, but a page has at least one item when any is left. */
export interface PageBound<Item> {
  readonly maxBytes: number
  /** How many bytes an item counts for. */
  readonly bytesOf: (item: Item) => number
}

export interface PageQuery<Item> {
  readonly limit: number
  /** The `next` of the page before, which was asked with the same order and filters. */
  readonly after?: string | undefined
  readonly bound?: PageBound<Item> | undefined
}

export interface RunsQuery extends PageQuery<RunSummary> {
  /** Absent: `run_id`, the order of their ids' bytes. */
  readonly order?: RunOrder | undefined
  /** The last of the order first. */
  readonly desc?: boolean | undefined
  readonly state?: RunState | undefined
  /** Only runs whose id starts with it. */
  readonly prefix?: string | undefined
}

/** Filters leave only results that match all of them. */
export interface ResultsQuery extends PageQuery<Result> {
  /** Empty: those that were put without an id. */
  readonly toolUseId?: string | undefined
  readonly toolName?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly kind?: Kind | undefined
}

export interface Page<Item> {
  readonly items: readonly Item[]
  /** What to ask for the following page with; null at the end. */
  readonly next: string | null
}
