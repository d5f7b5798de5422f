/**
 * The rows of runs: found, opened, changed, counted, ended. Synchronous, and in the caller's transaction. Every row that
 * leaves is settled for the time given (`run-state.ts`). What becomes of a run's results is not decided here.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../core/errors.ts'
import { FORMATS, type LedgerPolicy, type Run, type RunPatch, type RunRef } from '../ledger.ts'
import { runNotOpen } from '../refusals.ts'
import { isReadable, type RunRow, settled, toRun } from './run-state.ts'
import { prepareRuns, type RunCounts, type RunStatements } from './run-statements.ts'
import { Touches } from './touches.ts'

export class Runs {
  readonly #policy: LedgerPolicy
  readonly #touches = new Touches()
  readonly #sql: RunStatements

  constructor(db: Database.Database, policy: LedgerPolicy) {
    this.#policy = policy
    this.#sql = prepareRuns(db)
  }

  /** Undefined for a run that never was or was purged. */
  find(ref: RunRef, now: number): RunRow | undefined {
    return this.#known(this.#sql.byName.get(ref.tenant, ref.run), now)
  }

  findByKey(key: number, now: number): RunRow | undefined {
    return this.#known(this.#sql.byKey.get(key), now)
  }

  /** In the order of their ids' bytes, from behind `after`. */
  list(tenant: string, page: { after: string; limit: number }, now: number): readonly RunRow[] {
    return this.#sql.list.all(tenant, page.after, page.limit).map((row) => this.#settled(row, now))
  }

  /** Of all tenants, also purged ones, in the order of their keys. */
  scan(afterKey: number, limit: number, now: number): readonly RunRow[] {
    return this.#sql.scan.all(afterKey, limit).map((row) => this.#settled(row, now))
  }

  /** The row as the contract has it; undefined for a purged one. */
  toRun(row: RunRow): Run | undefined {
    return toRun(row, isReadable(row) ? this.#sql.toolNames.all(row.key) : [])
  }

  /** The run with this request noted; made if need be. Throws `ended`, `expired`, `evicted`, `over_limit`. */
  open(ref: RunRef, now: number): { row: RunRow; created: boolean } {
    const found = this.find(ref, now)
    if (found === undefined) return { row: this.#create(ref, now), created: true }
    requireOpen(found)
    this.#sql.request.run(now, found.key)
    return { row: found, created: false }
  }

  /** Throws `format_fixed`; the format of a run just made may be any. */
  change({ row, created }: { row: RunRow; created: boolean }, patch: RunPatch): void {
    const format = patch.format ?? row.format
    if (!created && format !== row.format) {
      const detail = `The run is open with the format ${row.format}, which is fixed. Use another run.`
      throw new CoatcheckError('format_fixed', detail, { format: row.format })
    }
    const { defaultTtlSeconds, defaultVerbatimLimitChars } = this.#policy
    const ttl = patched(patch.ttlSeconds, row.ttl_seconds, defaultTtlSeconds)
    const chars = patched(
      patch.verbatimLimitChars,
      row.verbatim_limit_chars,
      defaultVerbatimLimitChars,
    )
    this.#sql.change.run(format, ttl, chars, row.key)
    for (const [name, schema] of patch.tools ?? []) {
      if (schema === null) this.#sql.dropTool.run(row.key, name)
      else this.#sql.setTool.run(row.key, name, schema)
    }
  }

  count(row: RunRow, counts: RunCounts): void {
    this.#sql.count.run({ key: row.key, ...counts })
  }

  /** Ends an open run; writes what time has made of any other. */
  end(row: RunRow, now: number): void {
    if (row.state === 'open') {
      const last_request_at = Math.max(row.last_request_at, now)
      this.#sql.settle.run({ key: row.key, state: 'ended', ended_at: now, last_request_at })
    } else this.settle(row)
  }

  /** Writes the state that time has brought, where the row does not have it yet. */
  settle({ key, state, ended_at, last_request_at, tenant }: RunRow): void {
    if (state === 'open' || state === 'purged') return
    const { changes } = this.#sql.settle.run({ key, state, ended_at, last_request_at })
    if (changes > 0 && state === 'evicting') this.#sql.countRuns.run({ tenant, added: -1 })
  }

  firstEvicting(): RunRow | undefined {
    return this.#sql.firstEvicting.get()
  }

  /** Once the results of an evicting run are gone. */
  evicted({ key }: RunRow): void {
    this.#sql.dropTools.run(key)
    this.#sql.evicted.run(key)
  }

  /** Once the results of a run are gone: leaves its name and last number. */
  purge(row: RunRow): void {
    this.settle(row)
    if (isReadable(row)) this.#sql.countRuns.run({ tenant: row.tenant, added: -1 })
    this.#sql.dropTools.run(row.key)
    this.#sql.purge.run(row.key)
  }

  tool(row: RunRow, name: string): Buffer | undefined {
    return isReadable(row) ? this.#sql.tool.get(row.key, name) : undefined
  }

  /** Held in memory for the next transaction; true when too many are. */
  touch(row: RunRow, now: number): boolean {
    if (row.state === 'open') this.#touches.note(row.key, now)
    return this.#touches.isFull
  }

  writeTouches(): void {
    for (const [key, at] of this.#touches.noted()) this.#sql.request.run(at, key)
  }

  /** Once the transaction that wrote them is committed. */
  forgetTouches(): void {
    this.#touches.clear()
  }

  #known(row: RunRow | undefined, now: number): RunRow | undefined {
    return row === undefined || row.state === 'purged' ? undefined : this.#settled(row, now)
  }

  #settled(row: RunRow, now: number): RunRow {
    if (row.state !== 'open') return settled(row, this.#policy, now)
    const last_request_at = Math.max(row.last_request_at, this.#touches.at(row.key))
    return settled({ ...row, last_request_at }, this.#policy, now)
  }

  #create(ref: RunRef, now: number): RunRow {
    const { maxRuns, defaultTtlSeconds, defaultVerbatimLimitChars } = this.#policy
    if ((this.#sql.counted.get(ref.tenant) ?? 0) >= maxRuns) {
      const detail = `There are ${maxRuns} runs already, which is the limit. Purge some first.`
      throw new CoatcheckError('over_limit', detail, { limit: 'runs', value: maxRuns })
    }
    this.#sql.create.run({
      tenant: ref.tenant,
      run: ref.run,
      format: FORMATS[0],
      ttl: defaultTtlSeconds,
      chars: defaultVerbatimLimitChars,
      now,
    })
    this.#sql.countRuns.run({ tenant: ref.tenant, added: 1 })
    return this.#sql.byName.get(ref.tenant, ref.run) as RunRow
  }
}

/** Absent, as it is; null, the default. */
function patched(asked: number | null | undefined, current: number, standard: number): number {
  return asked === undefined ? current : (asked ?? standard)
}

function requireOpen({ run: id, state, ttl_seconds: ttlSeconds }: RunRow): void {
  if (state === 'open' || state === 'purged') return
  throw runNotOpen({ id, ttlSeconds }, state === 'evicting' ? 'evicted' : state)
}
