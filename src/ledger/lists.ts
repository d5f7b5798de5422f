/**
 * Queries and pages of the ledger's lists.
 *
 * A row that exists from the first page to the last is listed exactly once, as long as the members
 * that order and filter the list do not change. A request moves a run to the newest end of the
 * order `last_request_at`. When that happens between two pages, an ascending list may show the run
 * twice, and a descending list may leave it out.
 */
import type { Kind, Outcome, Result, RunState, RunSummary } from './ledger.ts'

/** Names of all orders of runs. */
export const RUN_ORDERS = ['run_id', 'created_at', 'last_request_at'] as const
/** Order of a list of runs. Runs with the same time are ordered by their ids. */
export type RunOrder = (typeof RUN_ORDERS)[number]

/**
 * Bound of a page in bytes. The page ends before `maxBytes` would be passed, but has at least one
 * item when any is left.
 */
export interface PageBound<Item> {
  readonly maxBytes: number
  /** Bytes that an item counts for. */
  readonly bytesOf: (item: Item) => number
}

/** Query for one page of a list. `limit` is its largest number of items. */
export interface PageQuery<Item> {
  readonly limit: number
  /**
   * `next` of the page before, asked with the same order and filters. Absent for the first page.
   */
  readonly after?: string | undefined
  readonly bound?: PageBound<Item> | undefined
}

/** Query for a page of runs. */
export interface RunsQuery extends PageQuery<RunSummary> {
  /** `run_id` when absent: the order of the UTF-8 bytes of the ids. */
  readonly order?: RunOrder | undefined
  /** True lists the last runs of the order first. */
  readonly desc?: boolean | undefined
  readonly state?: RunState | undefined
  /** Start of the ids to list. */
  readonly prefix?: string | undefined
}

/** Query for a page of results. A result is listed when it matches all filters. */
export interface ResultsQuery extends PageQuery<Result> {
  /** The empty string matches results without a tool use id. */
  readonly toolUseId?: string | undefined
  readonly toolName?: string | undefined
  readonly outcome?: Outcome | undefined
  readonly kind?: Kind | undefined
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: readonly Item[]
  /** The `after` that asks for the following page; null at the end. */
  readonly next: string | null
}
