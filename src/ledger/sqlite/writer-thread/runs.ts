/**
 * Opens, changes, counts and ends runs in their rows. Synchronous, in the caller's transaction. The
 * results of a run are handled elsewhere.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { FORMATS, type LedgerPolicy, type RunPatch, type RunRef } from '../../ledger.ts'
import { runNotOpen } from '../../refusals.ts'
import type { Touch } from '../protocol/last-requests.ts'
import { PurgedNumbers } from '../rows/purged-numbers.ts'
import type { RunReader } from '../rows/run-reader.ts'
import { isForgotten, isReadable, RUN_CHECK, type RunRow } from '../rows/run-state.ts'
import { prepareRunWrites, type RunToErase, TOOL_CHECK } from '../rows/run-statements.ts'

/** Rows of runs on one connection. */
export class Runs {
  readonly #policy: LedgerPolicy
  readonly #reader: RunReader
  readonly #sql: ReturnType<typeof prepareRunWrites>
  readonly #purged: PurgedNumbers

  /** `reader` uses the same connection. */
  constructor(db: Database.Database, policy: LedgerPolicy, reader: RunReader) {
    this.#policy = policy
    this.#reader = reader
    this.#sql = prepareRunWrites(db)
    this.#purged = new PurgedNumbers(db)
  }

  /**
   * Opens a run, or notes a request of an open one. Throws `ended`, `expired`, `evicted` and
   * `over_limit`.
   */
  open(ref: RunRef, now: number): { row: RunRow; created: boolean } {
    const found = this.requireOpenable(ref, now)
    if (found === undefined) return { row: this.create(ref, now), created: true }
    this.#request(found.key, now)
    return { row: found, created: false }
  }

  /**
   * Checks that a run is open or can be opened, and changes nothing. Throws the errors of {@link
   * open}. Returns the run as it is at `now`; undefined when it does not exist. A row that is
   * `known` is not read again.
   */
  requireOpenable(ref: RunRef, now: number, known?: RunRow): RunRow | undefined {
    const found = known ? this.#reader.settled(known, now) : this.#reader.find(ref, now)
    if (found === undefined) this.#requireRoom(ref)
    else requireOpen(found)
    return found
  }

  /** Creates a run that {@link requireOpenable} has not found. */
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

  /**
   * Changes a run by a patch. Throws `format_fixed`, except for a run that was just created, and
   * `over_limit`.
   */
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

  /**
   * Changes the tools of a run. Throws `over_limit`. A run that is already above a limit may still
   * remove tools.
   */
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

  /** Writes the columns that puts have changed. */
  count(row: RunRow): void {
    this.#sql.count.run({ ...row, row_checksum: RUN_CHECK.of(row) })
  }

  /**
   * Ends an open run. Of another run it writes the state that time has brought. A run past its
   * retention is left to a sweep, which limits evictions.
   */
  end(row: RunRow, now: number): void {
    if (row.state === 'open') {
      const last_request_at = Math.max(row.last_request_at, now)
      this.#sql.settle.run({ key: row.key, state: 'ended', ended_at: now, last_request_at })
      this.#seal(row.key)
    } else if (row.state !== 'evicting') this.settle(row)
  }

  /** Writes the state of a settled row when the stored row has another. */
  settle({ key, state, ended_at, last_request_at, tenant }: RunRow): void {
    if (state === 'open') return
    const { changes } = this.#sql.settle.run({ key, state, ended_at, last_request_at })
    if (changes > 0) this.#seal(key)
    if (changes > 0 && state === 'evicting') this.#sql.countRuns.run({ tenant, added: -1 })
  }

  /** Sets times of the run that are after `now` to `now`. */
  notLater({ key }: RunRow, now: number): void {
    this.#sql.notLater.run({ key, now })
    this.#seal(key)
  }

  /**
   * Purges a run: keeps its last number and takes its name away. Its rows are then to be erased.
   */
  purge(row: RunRow): void {
    this.settle(row)
    if (isReadable(row)) this.#sql.countRuns.run({ tenant: row.tenant, added: -1 })
    this.#sql.purge.run(row.key)
    this.#seal(row.key)
    this.#purged.keep(row, row.last_number)
  }

  /**
   * Purges an evicted run whose name has been kept for as long as its evidence was; until then does
   * nothing.
   */
  forget(row: RunRow, now: number): void {
    if (isForgotten(row, this.#policy, now)) this.purge(row)
  }

  /** Erases the rest of a run whose results are erased. */
  erased({ key, state }: RunToErase): void {
    this.#sql.dropTools.run(key)
    if (state === 'purging') this.#sql.erase.run(key)
    else {
      this.#sql.evicted.run(key)
      this.#seal(key)
    }
  }

  /** Writes requests that were only noted so far. */
  touch(touches: Iterable<Touch>): void {
    for (const [key, at] of touches) this.#request(key, at)
  }

  #request(key: number, at: number): void {
    const row = this.#sql.row.get(key)
    // Puts of the same transaction have often written a later request already.
    if (row === undefined || row.state !== 'open' || row.last_request_at >= at) return
    // A damaged row must not get the checksum of a sound one. Whoever reads it gets the error;
    // other writes go on.
    if (row.key !== key || !RUN_CHECK.isSound(row)) return
    const last_request_at = at
    const row_checksum = RUN_CHECK.of({ ...row, last_request_at })
    this.#sql.request.run({ key, last_request_at, row_checksum })
  }

  /** Writes the checksum of a row that was sound and has just been changed. */
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

/** Value after a patch: absent keeps the current one, null restores the default. */
function patched(asked: number | null | undefined, current: number, standard: number): number {
  return asked === undefined ? current : (asked ?? standard)
}

function requireOpen({ run: id, state, ttl_seconds: ttlSeconds }: RunRow): void {
  if (state === 'open') return
  throw runNotOpen({ id, ttlSeconds }, state === 'evicting' ? 'evicted' : state)
}
