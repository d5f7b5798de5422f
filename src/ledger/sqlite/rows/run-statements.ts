/**
 * SQL of `run-reader.ts` and `runs.ts`. The row of a run that is being purged has no name, and
 * callers do not see it.
 */
import type Database from 'better-sqlite3'
import type { Format } from '../../ledger.ts'
import { RowCheck } from './row-checksum.ts'
import type { RunRow, StoredState } from './run-state.ts'

/** A run whose rows are to be erased. */
export interface RunToErase {
  readonly key: number
  readonly state: 'evicting' | 'purging'
}

/** Sums over all runs in one state. */
export interface StateTotals {
  readonly state: StoredState
  readonly runs: number
  readonly results: number
  readonly kept_bytes: number
  readonly oldest_at: number
  readonly latest_at: number
}

/** Row of a tool. */
export interface ToolRow {
  readonly key: number
  readonly run: number
  readonly name: string
  readonly input_schema: Buffer
  readonly row_checksum: number | null
}

/** Checks rows of tools. */
export const TOOL_CHECK = new RowCheck<ToolRow>(['run', 'name', 'input_schema'])

interface NewRun {
  readonly tenant: string
  readonly run: string
  readonly format: Format
  readonly ttl: number
  readonly chars: number
  readonly now: number
  /** Last number of an earlier run of this name; 0 without one. */
  readonly lastNumber: number
}

/**
 * Rows of a tenant whose ids are in `[from, before)`, in the order of their bytes; at most `limit`.
 */
export interface RunRange {
  readonly tenant: string
  readonly from: string
  readonly before: string
  readonly limit: number
}

const RANGE = 'SELECT * FROM runs WHERE tenant = $tenant AND run >= $from AND run < $before'

/** Prepares the statements that read runs. */
export function prepareRunReads(db: Database.Database) {
  return {
    ping: db.prepare('SELECT count(*) FROM (SELECT 1 FROM runs LIMIT 1)'),
    byName: db.prepare<[string, string], RunRow>('SELECT * FROM runs WHERE tenant = ? AND run = ?'),
    byNameAgain: db
      .prepare<[string, string], number>(
        'SELECT 1 FROM runs INDEXED BY runs_again WHERE tenant = ? AND run = ?',
      )
      .pluck(),
    countAgain: db
      .prepare<[Omit<RunRange, 'limit'>], number>(
        `SELECT count(*) FROM runs INDEXED BY runs_again
         WHERE tenant = $tenant AND run >= $from AND run < $before`,
      )
      .pluck(),
    byKey: db.prepare<[number], RunRow>(`SELECT * FROM runs WHERE key = ? AND state <> 'purging'`),
    list: db.prepare<[RunRange], RunRow>(`${RANGE} ORDER BY run LIMIT $limit`),
    listDesc: db.prepare<[RunRange], RunRow>(`${RANGE} ORDER BY run DESC LIMIT $limit`),
    scan: db.prepare<[number, number], RunRow>(
      `SELECT * FROM runs WHERE key > ? AND state <> 'purging' ORDER BY key LIMIT ?`,
    ),
    totals: db.prepare<[], StateTotals>(
      `SELECT state, count(*) AS runs, sum(results) AS results, sum(kept_bytes) AS kept_bytes,
         min(created_at) AS oldest_at, max(last_request_at) AS latest_at
       FROM runs WHERE state <> 'purging' GROUP BY state`,
    ),
    // Runs that are being purged come first, since a caller waits for them.
    toErase: db.prepare<[], RunToErase>(
      `SELECT key, state FROM runs WHERE state IN ('evicting', 'purging')
       ORDER BY state DESC, key LIMIT 1`,
    ),
    row: db.prepare<[number], RunRow>('SELECT * FROM runs WHERE key = ?'),
    counted: db.prepare<[string], number>('SELECT runs FROM tenants WHERE tenant = ?').pluck(),
    tool: db.prepare<[number, string], ToolRow>('SELECT * FROM tools WHERE run = ? AND name = ?'),
    tools: db.prepare<[number, number], ToolRow>(
      'SELECT * FROM tools WHERE run = ? ORDER BY name LIMIT ?',
    ),
  }
}

/** Prepares the statements that write runs. */
export function prepareRunWrites(db: Database.Database) {
  return { ...rows(db), ...tools(db) }
}

function rows(db: Database.Database) {
  return {
    create: db.prepare<[NewRun]>(
      `INSERT INTO runs (tenant, run, state, format, ttl_seconds, verbatim_limit_chars, created_at,
         last_request_at, last_number)
       VALUES ($tenant, $run, 'open', $format, $ttl, $chars, $now, $now, $lastNumber)`,
    ),
    countRuns: db.prepare<[{ tenant: string; added: number }]>(
      `INSERT INTO tenants (tenant, runs) VALUES ($tenant, $added)
       ON CONFLICT (tenant) DO UPDATE SET runs = runs + $added`,
    ),
    change: db.prepare<[Format, number, number, number]>(
      'UPDATE runs SET format = ?, ttl_seconds = ?, verbatim_limit_chars = ? WHERE key = ?',
    ),
    request: db.prepare<[Pick<RunRow, 'key' | 'last_request_at' | 'row_checksum'>]>(
      `UPDATE runs SET last_request_at = $last_request_at, row_checksum = $row_checksum
       WHERE key = $key`,
    ),
    // Writes all columns that puts change.
    count: db.prepare<[RunRow]>(
      `UPDATE runs
       SET row_checksum = $row_checksum, last_request_at = $last_request_at,
           last_number = $last_number, results = $results, kept_bytes = $kept_bytes, produced_chars = $produced_chars, shown_chars = $shown_chars,
           failure_key = $failure_key, failure_repeats = $failure_repeats
       WHERE key = $key`,
    ),
    settle: db.prepare<[Pick<RunRow, 'key' | 'state' | 'ended_at' | 'last_request_at'>]>(
      `UPDATE runs SET state = $state, ended_at = $ended_at, last_request_at = $last_request_at
       WHERE key = $key AND state IN ('open', 'ended', 'expired') AND state <> $state`,
    ),
    // Corrects times that a clock that was ahead has left.
    notLater: db.prepare<[{ key: number; now: number }]>(
      `UPDATE runs SET last_request_at = min(last_request_at, $now), created_at = min(created_at, $now),
         ended_at = min(ended_at, $now)
       WHERE key = $key`,
    ),
    evicted: db.prepare<[number]>(
      `UPDATE runs SET state = 'evicted', tool_count = 0, tool_bytes = 0 WHERE key = ?`,
    ),
    // The name is free for a new run while the rest is being erased.
    purge: db.prepare<[number]>(
      `UPDATE runs SET state = 'purging', run = NULL, failure_key = NULL WHERE key = ?`,
    ),
    erase: db.prepare<[number]>('DELETE FROM runs WHERE key = ?'),
    row: db.prepare<[number], RunRow>('SELECT * FROM runs WHERE key = ?'),
    seal: db.prepare<[number, number]>('UPDATE runs SET row_checksum = ? WHERE key = ?'),
  }
}

function tools(db: Database.Database) {
  return {
    toolBytes: db
      .prepare<[number, string], number>(
        'SELECT octet_length(name) + octet_length(input_schema) FROM tools WHERE run = ? AND name = ?',
      )
      .pluck(),
    countTools: db.prepare<[number, number, number]>(
      'UPDATE runs SET tool_count = ?, tool_bytes = ? WHERE key = ?',
    ),
    setTool: db.prepare<[number, string, Buffer, number]>(
      `INSERT INTO tools (run, name, input_schema, row_checksum) VALUES (?, ?, ?, ?)
       ON CONFLICT (run, name) DO UPDATE
       SET input_schema = excluded.input_schema, row_checksum = excluded.row_checksum`,
    ),
    dropTool: db.prepare<[number, string]>('DELETE FROM tools WHERE run = ? AND name = ?'),
    dropTools: db.prepare<[number]>('DELETE FROM tools WHERE run = ?'),
  }
}
