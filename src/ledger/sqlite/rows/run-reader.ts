/**
 * The rows of runs, found. Every row that leaves is settled for the time given (`run-state.ts`), the requests that are only
 * noted so far included. Reads alone, and in the caller's transaction; on either connection.
 */
import type Database from 'better-sqlite3'
import type { LedgerPolicy, Run, RunRef, Totals } from '../../ledger.ts'
import { isReadable, type RunRow, type StoredState, settled, toRun } from './run-state.ts'
import {
  prepareRunReads,
  type RunRange,
  type RunToErase,
  type StateTotals,
} from './run-statements.ts'

/** When a run was last asked for, by its key, as far as it is only noted; 0 when it is not. */
export interface Noted {
  at(key: number): number
}

export class RunReader {
  readonly #policy: LedgerPolicy
  readonly #noted: Noted
  readonly #sql: ReturnType<typeof prepareRunReads>

  constructor(db: Database.Database, policy: LedgerPolicy, noted: Noted) {
    this.#policy = policy
    this.#noted = noted
    this.#sql = prepareRunReads(db)
  }

  /** Asks the file for something. */
  ping(): void {
    this.#sql.ping.get()
  }

  /** Undefined for a run that never was or was purged. */
  find(ref: RunRef, now: number): RunRow | undefined {
    return this.#known(this.#sql.byName.get(ref.tenant, ref.run), now)
  }

  findByKey(key: number, now: number): RunRow | undefined {
    return this.#known(this.#sql.byKey.get(key), now)
  }

  /** The first rows of a range, purged ones included; the last ones first with `desc`. */
  list(range: RunRange, { desc }: { readonly desc: boolean }, now: number): readonly RunRow[] {
    const rows = desc ? this.#sql.listDesc.all(range) : this.#sql.list.all(range)
    return rows.map((row) => this.settled(row, now))
  }

  /** Of all tenants, also purged ones, in the order of their keys. */
  scan(afterKey: number, limit: number, now: number): readonly RunRow[] {
    return this.#sql.scan.all(afterKey, limit).map((row) => this.settled(row, now))
  }

  /** Over the rows as they are stored: a run may have expired since the last sweep. */
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

  toErase(): RunToErase | undefined {
    return this.#sql.toErase.get()
  }

  /** How many of a tenant's runs count for its limit. */
  counted(tenant: string): number {
    return this.#sql.counted.get(tenant) ?? 0
  }

  /** The row as the contract has it; undefined for a purged one. */
  toRun(row: RunRow): Run | undefined {
    const { maxToolsPerRun } = this.#policy
    return toRun(row, isReadable(row) ? this.#sql.toolNames.all(row.key, maxToolsPerRun) : [])
  }

  tool(row: RunRow, name: string): Buffer | undefined {
    return isReadable(row) ? this.#sql.tool.get(row.key, name) : undefined
  }

  /** A row that was found before, as it stands now. */
  settled(row: RunRow, now: number): RunRow {
    if (row.state !== 'open') return settled(row, this.#policy, now)
    const last_request_at = Math.max(row.last_request_at, this.#noted.at(row.key))
    return settled({ ...row, last_request_at }, this.#policy, now)
  }

  #known(row: RunRow | undefined, now: number): RunRow | undefined {
    return row === undefined || row.state === 'purged' ? undefined : this.settled(row, now)
  }
}
