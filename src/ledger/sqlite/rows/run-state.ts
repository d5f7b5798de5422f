/**
 * A row of a run, and the state it is in at a time: idling and retention need nobody to act, so a row may say `open` of a
 * run that has expired since. Pure.
 */
import type { Format, LedgerPolicy, Run, RunRef, RunState, RunSummary } from '../../ledger.ts'
import { RowCheck } from './row-checksum.ts'

const MS_PER_SECOND = 1000

/** `evicting`: evicted, with rows that have yet to go. */
export type StoredState = RunState | 'evicting'

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
  /** Handles that were given and whose results went with a damaged log. */
  readonly lost_numbers: number
  /** Null for a row of a release that made none. */
  readonly row_checksum: number | null
}

/** Of rows as they are in the file, not settled. */
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

/** A run among all: a key of maps. Ids may hold any character. */
export const nameOf = ({ tenant, run }: RunRef): string => `${tenant.length} ${tenant}${run}`

/** The row as it stands at `now`: an open run idle for longer than its TTL has expired, one past retention is evicted. */
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

/** True while its evidence is served. */
export function isReadable({ state }: Pick<RunRow, 'state'>): boolean {
  return state === 'open' || state === 'ended' || state === 'expired'
}

/** A settled row as the contract has it. */
export function toRun(row: RunRow, tools: readonly string[]): Run {
  return { ...toSummary(row), tools: isReadable(row) ? tools : [] }
}

/** A settled row of a run that is not purged, as a list shows it. */
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

/** The state that callers see of a run that is not purged. */
export const shownState = (state: StoredState): RunState =>
  state === 'evicting' ? 'evicted' : (state as RunState)
