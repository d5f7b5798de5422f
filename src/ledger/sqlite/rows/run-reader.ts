/**
 * Finds rows of runs. Every row that is returned is settled for the given time (see
 * `run-state.ts`), with the requests that are only noted so far. Only reads, in the caller's
 * transaction, on either connection. Every row is checked: methods throw `ledger_corrupt` for a
 * damaged one.
 */
import type Database from 'better-sqlite3'
import type { LedgerPolicy, Run, RunRef, Totals } from '../../ledger.ts'
import { damaged } from './row-checksum.ts'
import {
  isReadable,
  RUN_CHECK,
  type RunRow,
  type StoredState,
  settled,
  toRun,
} from './run-state.ts'
import {
  prepareRunReads,
  type RunRange,
  type RunToErase,
  type StateTotals,
  TOOL_CHECK,
} from './run-statements.ts'

/**
 * Requests that are noted and not written yet. `at` is the time of the last one of the run with
 * this key; 0 without one.
 */
export interface Noted {
  at(key: number): number
}

/** Finds rows of runs by name and key. */
export class RunReader {
  readonly #policy: LedgerPolicy
  readonly #noted: Noted
  readonly #sql: ReturnType<typeof prepareRunReads>

  constructor(db: Database.Database, policy: LedgerPolicy, noted: Noted) {
    this.#policy = policy
    this.#noted = noted
    this.#sql = prepareRunReads(db)
  }

  /** Reads something from the file. */
  ping(): void {
    this.#sql.ping.get()
  }

  /** Finds a run by name. Undefined when it never existed or was purged. */
  find(ref: RunRef, now: number): RunRow | undefined {
    const { tenant, run } = ref
    const row = this.#sql.byName.get(tenant, run)
    if (row !== undefined) return this.#known(RUN_CHECK.require(row, { tenant, run }), now)
    // A run that is not found would be created again, and its handles given twice.
    if (this.#sql.byNameAgain.get(tenant, run) !== undefined) throw damaged()
    return undefined
  }

  /** Finds a run by its key. Undefined for a run that is being purged. */
  findByKey(key: number, now: number): RunRow | undefined {
    const row = this.#sql.byKey.get(key)
    return row && this.#known(RUN_CHECK.require(row, { key }), now)
  }

  /** Returns the first rows of a range; with `desc`, the last ones first. */
  list(range: RunRange, { desc }: { readonly desc: boolean }, now: number): readonly RunRow[] {
    const rows = desc ? this.#sql.listDesc.all(range) : this.#sql.list.all(range)
    this.#requireAll(rows, range, desc)
    return rows.map((row) => this.settled(row, now))
  }

  /**
   * Throws `ledger_corrupt` unless `rows` are all rows of the range, by a count in another index.
   */
  #requireAll(rows: readonly RunRow[], range: RunRange, desc: boolean): void {
    const { tenant, limit } = range
    for (const row of rows) RUN_CHECK.require(row, { tenant })
    const names = rows.map(({ run }) => Buffer.from(run))
    const ascending = desc ? names.toReversed() : names
    if (ascending.some((name, n) => n > 0 && name.compare(ascending[n - 1] as Buffer) <= 0)) {
      throw damaged()
    }
    const last = rows.length < limit ? undefined : rows.at(-1)?.run
    let { from, before } = range
    if (last !== undefined && desc) from = last
    else if (last !== undefined) before = `${last}\0`
    if (this.#sql.countAgain.get({ tenant, from, before }) !== rows.length) throw damaged()
  }

  /** Returns the rows of all tenants after a key, in the order of their keys. */
  scan(afterKey: number, limit: number, now: number): readonly RunRow[] {
    const rows = this.#sql.scan.all(afterKey, limit)
    return rows.map((row) => this.settled(RUN_CHECK.require(row), now))
  }

  /** Counts the rows as they are stored. A run may have expired since the last sweep. */
  totals(): Totals {
    const rows = this.#sql.totals.all()
    const counted = (state: StoredState): number =>
      rows.find((row) => row.state === state)?.runs ?? 0
    const readable = rows.filter(isReadable)
    const sum = (of: (row: StateTotals) => number) =>
      readable.reduce((all, row) => all + of(row), 0)
    return {
      runs: { open: counted('open'), ended: counted('ended'), expired: counted('expired') },
      results: sum(({ results }) => results),
      keptBytes: sum(({ kept_bytes }) => kept_bytes),
      oldestOpenAt: rows.find(({ state }) => state === 'open')?.oldest_at ?? null,
      latestAt: Math.max(0, ...rows.map(({ latest_at }) => latest_at)),
    }
  }

  /** Throws `ledger_corrupt`. */
  toErase(): RunToErase | undefined {
    const found = this.#sql.toErase.get()
    if (found === undefined) return undefined
    // An index alone must not decide that a run is erased.
    const row = this.#sql.row.get(found.key)
    if (row === undefined || (RUN_CHECK.require(row).state as string) !== found.state)
      throw damaged()
    return found
  }

  /** Number of a tenant's runs that count towards its limit. */
  counted(tenant: string): number {
    return this.#sql.counted.get(tenant) ?? 0
  }

  /** Turns a settled row into a run of the contract, with the names of its tools. */
  toRun(row: RunRow): Run | undefined {
    const { maxToolsPerRun } = this.#policy
    return toRun(row, isReadable(row) ? this.#toolNames(row, maxToolsPerRun) : [])
  }

  /** Schema of a tool. Undefined when there is none, or the run cannot be read any more. */
  tool(row: RunRow, name: string): Buffer | undefined {
    const tool = isReadable(row) ? this.#sql.tool.get(row.key, name) : undefined
    return tool && TOOL_CHECK.require(tool, { run: row.key, name }).input_schema
  }

  #toolNames({ key: run, tool_count }: RunRow, limit: number): readonly string[] {
    const names: string[] = []
    for (const tool of this.#sql.tools.iterate(run, limit)) {
      names.push(TOOL_CHECK.require(tool, { run }).name)
    }
    if (names.length < Math.min(tool_count, limit)) throw damaged()
    return names
  }

  /** Settles a row that was found before, for the time `now`. */
  settled(row: RunRow, now: number): RunRow {
    if (row.state !== 'open') return settled(row, this.#policy, now)
    const last_request_at = Math.max(row.last_request_at, this.#noted.at(row.key))
    return settled({ ...row, last_request_at }, this.#policy, now)
  }

  #known(row: RunRow | undefined, now: number): RunRow | undefined {
    return row && this.settled(row, now)
  }
}
