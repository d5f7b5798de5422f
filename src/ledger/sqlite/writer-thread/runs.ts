/**
 * The rows of runs: opened, changed, counted, ended. Synchronous, and in the caller's transaction. What becomes of a run's
 * results is not decided here.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { FORMATS, type LedgerPolicy, type RunPatch, type RunRef } from '../../ledger.ts'
import { runNotOpen } from '../../refusals.ts'
import type { Touch } from '../protocol/last-requests.ts'
import { PurgedNumbers } from '../rows/purged-numbers.ts'
import type { RunReader } from '../rows/run-reader.ts'
import { isReadable, RUN_CHECK, type RunRow } from '../rows/run-state.ts'
import { prepareRunWrites, type RunToErase, TOOL_CHECK } from '../rows/run-statements.ts'

export class Runs {
  readonly #policy: LedgerPolicy
  readonly #reader: RunReader
  readonly #sql: ReturnType<typeof prepareRunWrites>
  readonly #purged: PurgedNumbers

  /** `reader` is of the same connection. */
  constructor(db: Database.Database, policy: LedgerPolicy, reader: RunReader) {
    this.#policy = policy
    this.#reader = reader
    this.#sql = prepareRunWrites(db)
    this.#purged = new PurgedNumbers(db)
  }

  /** The run with this request noted; made if need be. Throws `ended`, `expired`, `evicted`, `over_limit`. */
  open(ref: RunRef, now: number): { row: RunRow; created: boolean } {
    const found = this.requireOpenable(ref, now)
    if (found === undefined) return { row: this.create(ref, now), created: true }
    this.#request(found.key, now)
    return { row: found, created: false }
  }

  /**
   * Throws as `open` would, and changes nothing. The run, when there is one: the one that is `known`, which is not read again,
   * as it stands now.
   */
  requireOpenable(ref: RunRef, now: number, known?: RunRow): RunRow | undefined {
    const found = known ? this.#reader.settled(known, now) : this.#reader.find(ref, now)
    if (found === undefined) this.#requireRoom(ref)
    else requireOpen(found)
    return found
  }

  /** A run that `requireOpenable` has not found. */
  create(ref: RunRef, now: number): RunRow {
    const { defaultTtlSeconds, defaultVerbatimLimitChars } = this.#policy
    const { lastInsertRowid } = this.#sql.create.run({
      tenant: ref.tenant,
      run: ref.run,
      format: FORMATS[0],
      ttl: defaultTtlSeconds,
      chars: defaultVerbatimLimitChars,
      now,
      lastNumber: this.#purged.last(ref),
    })
    this.#sql.countRuns.run({ tenant: ref.tenant, added: 1 })
    this.#seal(Number(lastInsertRowid))
    return this.#reader.find(ref, now) as RunRow
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
    if (patch.tools !== undefined) this.#changeTools(row, patch.tools)
    this.#seal(row.key)
  }

  /** Throws `over_limit`; a run that is past a limit already may still remove tools. */
  #changeTools(row: RunRow, tools: ReadonlyMap<string, Buffer | null>): void {
    let { tool_count: count, tool_bytes: bytes } = row
    for (const [name, schema] of tools) {
      const before = this.#sql.toolBytes.get(row.key, name)
      const after = schema === null ? undefined : Buffer.byteLength(name) + schema.length
      count += Number(after !== undefined) - Number(before !== undefined)
      bytes += (after ?? 0) - (before ?? 0)
      if (schema === null) this.#sql.dropTool.run(row.key, name)
      else {
        const checksum = TOOL_CHECK.of({ key: 0, run: row.key, name, input_schema: schema })
        this.#sql.setTool.run(row.key, name, schema, checksum)
      }
    }
    const { maxToolsPerRun, maxToolBytesPerRun } = this.#policy
    const advice = 'Remove some by null, or use another run.'
    if (count > maxToolsPerRun && count > row.tool_count) {
      const detail = `The run would have ${count} tools; it may have ${maxToolsPerRun}. ${advice}`
      throw overLimit(detail, 'tools_per_run', maxToolsPerRun)
    }
    if (bytes > maxToolBytesPerRun && bytes > row.tool_bytes) {
      const detail = `The names and schemas of the run's tools would have ${bytes} bytes; they may have ${maxToolBytesPerRun}. ${advice}`
      throw overLimit(detail, 'tool_bytes_per_run', maxToolBytesPerRun)
    }
    this.#sql.countTools.run(count, bytes, row.key)
  }

  /** Writes what puts have changed of an open run. */
  count(row: RunRow): void {
    this.#sql.count.run({ ...row, row_checksum: RUN_CHECK.of(row) })
  }

  /** Ends an open run, and notes that one has expired. One past its retention is left to a sweep, which is bounded. */
  end(row: RunRow, now: number): void {
    if (row.state === 'open') {
      const last_request_at = Math.max(row.last_request_at, now)
      this.#sql.settle.run({ key: row.key, state: 'ended', ended_at: now, last_request_at })
      this.#seal(row.key)
    } else if (row.state !== 'evicting') this.settle(row)
  }

  /** Writes the state that time has brought, where the row does not have it yet. */
  settle({ key, state, ended_at, last_request_at, tenant }: RunRow): void {
    if (state === 'open') return
    const { changes } = this.#sql.settle.run({ key, state, ended_at, last_request_at })
    if (changes > 0) this.#seal(key)
    if (changes > 0 && state === 'evicting') this.#sql.countRuns.run({ tenant, added: -1 })
  }

  /** Brings times of the run that lie in the future back to `now`. */
  notLater({ key }: RunRow, now: number): void {
    this.#sql.notLater.run({ key, now })
    this.#seal(key)
  }

  /** Keeps the run's last number; what it had is without a name from now on, and to be erased. */
  purge(row: RunRow): void {
    this.settle(row)
    if (isReadable(row)) this.#sql.countRuns.run({ tenant: row.tenant, added: -1 })
    this.#sql.purge.run(row.key)
    this.#seal(row.key)
    this.#purged.keep(row, row.last_number)
  }

  /** Once the results of the run are gone. */
  erased({ key, state }: RunToErase): void {
    this.#sql.dropTools.run(key)
    if (state === 'purging') this.#sql.erase.run(key)
    else {
      this.#sql.evicted.run(key)
      this.#seal(key)
    }
  }

  /** Requests that were only noted so far. */
  touch(touches: Iterable<Touch>): void {
    for (const [key, at] of touches) this.#request(key, at)
  }

  #request(key: number, at: number): void {
    const row = this.#sql.row.get(key)
    // a row that is damaged must not get the checksum of a sound one; who asks for it is told, and other writes go on
    if (row === undefined || row.key !== key || !RUN_CHECK.isSound(row)) return
    if (this.#sql.request.run(at, key).changes > 0) this.#seal(key)
  }

  /** Writes the checksum of a row that was found sound and has just been changed. */
  #seal(key: number): void {
    const row = this.#sql.row.get(key)
    if (row !== undefined) this.#sql.seal.run(RUN_CHECK.of(row), key)
  }

  #requireRoom({ tenant }: RunRef): void {
    const { maxRuns } = this.#policy
    if (this.#reader.counted(tenant) < maxRuns) return
    const detail = `There are ${maxRuns} runs already, which is the limit. Purge some first.`
    throw overLimit(detail, 'runs', maxRuns)
  }
}

const overLimit = (detail: string, limit: string, value: number): CoatcheckError =>
  new CoatcheckError('over_limit', detail, { limit, value })

/** Absent, as it is; null, the default. */
function patched(asked: number | null | undefined, current: number, standard: number): number {
  return asked === undefined ? current : (asked ?? standard)
}

function requireOpen({ run: id, state, ttl_seconds: ttlSeconds }: RunRow): void {
  if (state === 'open') return
  throw runNotOpen({ id, ttlSeconds }, state === 'evicting' ? 'evicted' : state)
}
