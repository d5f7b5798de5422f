/**
 * Rows of runs, and their state at a given time. Nothing has to happen for a run to expire, so the
 * row of an expired run may still say `open`. Pure functions.
 */
import type { Format, LedgerPolicy, Run, RunRef, RunState, RunSummary } from '../../ledger.ts'
import { RowCheck } from './row-checksum.ts'

const MS_PER_SECOND = 1000

/** State in a row. `evicting`: evicted, but some of its rows are not erased yet. */
export type StoredState = RunState | 'evicting'

/** Row of a run. */
export interface RunRow {
  readonly key: number
  readonly tenant: string
  readonly run: string
  readonly state: StoredState
  readonly format: Format
  readonly ttl_seconds: number
  readonly verbatim_limit_chars: number
  readonly created_at: number
  readonly last_request_at: number
  readonly ended_at: number | null
  readonly last_number: number
  readonly results: number
  readonly kept_bytes: number
  readonly produced_chars: number
  readonly shown_chars: number
  readonly failure_key: string | null
  readonly failure_repeats: number
  readonly tool_count: number
  readonly tool_bytes: number
  /** Number of handles whose results were lost with a damaged log. */
  readonly lost_numbers: number
  /** Null in a row that was written before this column existed. */
  readonly row_checksum: number | null
}

/** Checks rows of runs as they are in the file, not settled ones. */
export const RUN_CHECK = new RowCheck<RunRow>([
  'key',
  'tenant',
  'run',
  'state',
  'format',
  'ttl_seconds',
  'verbatim_limit_chars',
  'created_at',
  'last_request_at',
  'ended_at',
  'last_number',
  'results',
  'kept_bytes',
  'produced_chars',
  'shown_chars',
  'failure_key',
  'failure_repeats',
  'tool_count',
  'tool_bytes',
  'lost_numbers',
])

/** Key for maps that is unique among all runs. Ids may hold any character. */
export const nameOf = ({ tenant, run }: RunRef): string => `${tenant.length} ${tenant}${run}`

/**
 * Settles a row for the time `now`: an open run idle for longer than its TTL has expired, and a run
 * past its retention is evicted.
 */
export function settled(row: RunRow, policy: LedgerPolicy, now: number): RunRow {
  return evictedBy(expiredBy(row, now), policy, now)
}

function expiredBy(row: RunRow, now: number): RunRow {
  const deadline = row.last_request_at + row.ttl_seconds * MS_PER_SECOND
  if (row.state !== 'open' || now <= deadline) return row
  return { ...row, state: 'expired', ended_at: deadline }
}

function evictedBy(row: RunRow, policy: LedgerPolicy, now: number): RunRow {
  if ((row.state !== 'ended' && row.state !== 'expired') || row.ended_at === null) return row
  const isDue = now > row.ended_at + policy.retentionSeconds * MS_PER_SECOND
  return isDue ? { ...row, state: 'evicting' } : row
}

/**
 * True for an evicted run at the end of a second retention. Its name is kept so long, for callers
 * to be told what became of the run; for good would be without bound, since evicted runs count in
 * no limit.
 */
export function isForgotten(row: RunRow, policy: LedgerPolicy, now: number): boolean {
  if (row.state !== 'evicted' || row.ended_at === null) return false
  return now > row.ended_at + 2 * policy.retentionSeconds * MS_PER_SECOND
}

/** Whether the evidence of a run can be read. */
export function isReadable({ state }: Pick<RunRow, 'state'>): boolean {
  return state === 'open' || state === 'ended' || state === 'expired'
}

/** Turns a settled row into a run of the contract. */
export function toRun(row: RunRow, tools: readonly string[]): Run {
  return { ...toSummary(row), tools: isReadable(row) ? tools : [] }
}

/** Turns a settled row into a run as lists return it. */
export function toSummary(row: RunRow): RunSummary {
  return {
    id: row.run,
    state: shownState(row.state),
    format: row.format,
    ttlSeconds: row.ttl_seconds,
    verbatimLimitChars: row.verbatim_limit_chars,
    createdAt: row.created_at,
    lastRequestAt: row.last_request_at,
    endedAt: row.ended_at,
    results: row.results,
    keptBytes: row.kept_bytes,
    producedChars: row.produced_chars,
    shownChars: row.shown_chars,
    toolCount: isReadable(row) ? row.tool_count : 0,
    toolBytes: isReadable(row) ? row.tool_bytes : 0,
  }
}

/** State that callers see. */
export const shownState = (state: StoredState): RunState =>
  state === 'evicting' ? 'evicted' : (state as RunState)
