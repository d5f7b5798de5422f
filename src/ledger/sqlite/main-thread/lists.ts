/**
 * Lists runs and results. Rows are read some at a time, with other requests in between: a filter
 * may skip all rows of a tenant before it finds one.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CoatcheckError } from '../../../core/errors.ts'
import { handleNumber, handleOf } from '../../../core/handles.ts'
import type { Result, RunRef, RunSummary } from '../../ledger.ts'
import type { Page, ResultsQuery, RunsQuery } from '../../lists.ts'
import { type RunRow, shownState, toSummary } from '../rows/run-state.ts'
import { PageBuilder } from './page.ts'
import type { Reader } from './reader.ts'

/** Rows of runs that are read in one event-loop turn, some milliseconds of work. */
const STEP_RUNS = 1_000
/** Greater than every id. */
const PAST_ALL_IDS = '\u{10ffff}'
const TIME_CURSOR = /^(?<time>\d{1,16}):(?<id>.+)$/s

/** Range of run ids `[from, before)`, in the order of their UTF-8 bytes. */
interface IdRange {
  readonly from: string
  readonly before: string
}

/** Position of a run in an order by time. */
interface TimePlace {
  readonly time: number
  readonly id: string
}

/** Makes pages of lists from the rows of a {@link Reader}. */
export class Lists {
  readonly #reader: Reader

  constructor(reader: Reader) {
    this.#reader = reader
  }

  /**
   * Returns a page of a tenant's runs. Throws `invalid_request` when `after` is not the `next` of a
   * page in this order.
   */
  runs(tenant: string, query: RunsQuery, now: number): Promise<Page<RunSummary>> {
    const { order = 'run_id' } = query
    return order === 'run_id'
      ? this.#runsById(tenant, query, now)
      : this.#runsByTime(tenant, { ...query, order }, now)
  }

  /**
   * Returns a page of a run's results. Throws `invalid_request` when `after` is not the `next` of a
   * page.
   */
  async results(ref: RunRef, query: ResultsQuery): Promise<Page<Result>> {
    const page = new PageBuilder<Result>(query, ({ number }) => handleOf(number))
    const add = (result: Result): boolean => page.add(result)
    let after = resultCursor(query.after)
    for (;;) {
      const reached = this.#reader.stepResults(ref, { ...query, after }, add)
      if (reached === undefined) return page.page()
      after = reached
      await nextTurn()
    }
  }

  async #runsById(tenant: string, query: RunsQuery, now: number): Promise<Page<RunSummary>> {
    const page = new PageBuilder<RunSummary>(query, ({ id }) => id)
    for await (const row of this.#rows(tenant, idRange(query), { ...query, now })) {
      if (!page.add(toSummary(row))) break
    }
    return page.page()
  }

  /**
   * Reads all runs that match, and keeps the first ones of the order. There is no index by time:
   * each put changes the time of its run, so an index would cost each put a write.
   */
  async #runsByTime(
    tenant: string,
    query: RunsQuery & { readonly order: TimeOrder },
    now: number,
  ): Promise<Page<RunSummary>> {
    const { limit, desc = false, prefix } = query
    const placeOf = PLACES[query.order]
    const sign = desc ? -1 : 1
    const compare = (one: RunRow, other: RunRow): number =>
      sign * comparePlaces(placeOf(one), placeOf(other))
    const after = query.after === undefined ? undefined : timeCursor(query.after)
    const first: RunRow[] = []
    const keep = (): void => {
      first.sort(compare).splice(limit + 1)
    }
    const { state } = query
    for await (const row of this.#rows(tenant, idRange({ prefix }), { limit, state, now })) {
      if (after !== undefined && sign * comparePlaces(placeOf(row), after) <= 0) continue
      first.push(row)
      if (first.length > limit + STEP_RUNS) keep()
    }
    keep()
    const page = new PageBuilder<RunSummary>(query, ({ id, ...times }) => {
      const time = query.order === 'created_at' ? times.createdAt : times.lastRequestAt
      return `${time}:${id}`
    })
    for (const row of first) if (!page.add(toSummary(row))) break
    return page.page()
  }

  /** Settled rows of a range of ids, in the order of the ids. */
  async *#rows(
    tenant: string,
    range: IdRange,
    how: Pick<RunsQuery, 'limit' | 'desc' | 'state'> & { readonly now: number },
  ): AsyncGenerator<RunRow> {
    const { desc = false, state, now } = how
    let rest = range
    for (let count = how.limit + 1; ; count *= 2) {
      const limit = Math.min(count, STEP_RUNS)
      const rows = this.#reader.stepRuns(tenant, { ...rest, desc, limit }, now)
      for (const row of rows) {
        if (state === undefined || shownState(row.state) === state) yield row
      }
      const last = rows.at(-1)?.run
      if (last === undefined || rows.length < limit) return
      rest = desc ? { ...rest, before: last } : { ...rest, from: successor(last) }
      await nextTurn()
    }
  }
}

type TimeOrder = 'created_at' | 'last_request_at'

const PLACES: Readonly<Record<TimeOrder, (row: RunRow) => TimePlace>> = {
  created_at: ({ created_at, run }) => ({ time: created_at, id: run }),
  last_request_at: ({ last_request_at, run }) => ({ time: last_request_at, id: run }),
}

function comparePlaces(one: TimePlace, other: TimePlace): number {
  if (one.time !== other.time) return one.time - other.time
  return compareIds(one.id, other.id)
}

const compareIds = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

/** The smallest id greater than `id`. */
const successor = (id: string): string => `${id}\0`

/** Range of the ids that start with the prefix and come after the previous page. */
function idRange({ prefix = '', after, desc = false }: Partial<RunsQuery>): IdRange {
  const range = { from: prefix, before: prefix + PAST_ALL_IDS }
  if (after === undefined) return range
  if (desc) return compareIds(after, range.before) < 0 ? { ...range, before: after } : range
  return compareIds(after, range.from) < 0 ? range : { ...range, from: successor(after) }
}

function resultCursor(after: string | undefined): number {
  if (after === undefined) return 0
  const number = handleNumber(after)
  if (number !== undefined) return number
  throw new CoatcheckError('invalid_request', '"after" is not the "next" of a page of results.')
}

function timeCursor(after: string): TimePlace {
  const { time, id } = TIME_CURSOR.exec(after)?.groups ?? {}
  if (time !== undefined && id !== undefined) return { time: Number(time), id }
  const detail = '"after" is not the "next" of a page of runs in this order.'
  throw new CoatcheckError('invalid_request', detail)
}
