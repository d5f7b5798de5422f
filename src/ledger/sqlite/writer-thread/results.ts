/**
 * Writes, renames and erases the rows of results and their chunks. Synchronous, in the caller's
 * transaction. Whether a run accepts a put is decided in `puts.ts`.
 */
import type Database from 'better-sqlite3'
import { shownChars } from '../../../core/content.ts'
import { CoatcheckError } from '../../../core/errors.ts'
import { sha256Hex } from '../../digest.ts'
import type { LedgerPolicy, Put, PutNames, StreamedPut } from '../../ledger.ts'
import { type ChunkKeys, type ChunkWriter, eraseCost } from '../rows/chunks.ts'
import type { ResultReader } from '../rows/result-reader.ts'
import {
  columnsOf,
  type NewResultRow,
  prepareResultWrites,
  RESULT_CHECK,
  type ResultRow,
} from '../rows/result-statements.ts'
import { damaged } from '../rows/row-checksum.ts'
import type { RunRow } from '../rows/run-state.ts'
import { EvidenceIds, type ResultNames } from './evidence-ids.ts'

interface Place {
  readonly run: RunRow
  readonly now: number
}

const NO_ID = { run: 0, id: '' }

/** Results on one connection. */
export class Results implements ResultNames {
  readonly #policy: LedgerPolicy
  readonly #reader: ResultReader
  readonly #chunks: ChunkWriter
  readonly #sql: ReturnType<typeof prepareResultWrites>
  readonly #ids: EvidenceIds
  /** An id that {@link findSame} has just found free, so that {@link keep} need not look for it again. */
  #free: { readonly run: number; readonly id: string } = NO_ID
  /**
   * Next free key. It only grows while the process lives: a result that was erased under its reader
   * must never name the chunks of another.
   */
  #nextKey: number

  /** `reader` and `chunks` use the same connection. */
  constructor(
    db: Database.Database,
    policy: LedgerPolicy,
    parts: { readonly reader: ResultReader; readonly chunks: ChunkWriter },
  ) {
    this.#policy = policy
    this.#reader = parts.reader
    this.#chunks = parts.chunks
    this.#sql = prepareResultWrites(db)
    this.#ids = new EvidenceIds(this)
    this.#nextKey = this.#chunks.nextKey()
  }

  /** Reserves consecutive keys and returns the first. No other row gets them. */
  reserve(keys: number): number {
    const first = this.#nextKey
    this.#nextKey += keys
    return first
  }

  /**
   * Finds the result that `put` repeats. Undefined when it is no retry. Throws `ledger_corrupt`.
   */
  findSame(run: RunRow, put: StreamedPut): ResultRow | undefined {
    this.#free = NO_ID
    if (put.idempotencyKey !== null) {
      return this.#reader.byIdempotencyKey(run.key, put.idempotencyKey)
    }
    if (put.toolUseId === '') return undefined
    const same = {
      run: run.key,
      toolUseId: put.toolUseId,
      outcome: put.outcome,
      kind: put.kind,
      sha256: Buffer.from(put.sha256, 'hex'),
      totalBytes: put.totalBytes,
    }
    const found = this.#sql.hasSame.get(same) === undefined ? undefined : this.#sql.same.get(same)
    if (found !== undefined) {
      return RESULT_CHECK.require(found, { run: run.key, tool_use_id: put.toolUseId })
    }
    this.#requireNotSame(run.key, put)
    return undefined
  }

  /**
   * Throws `ledger_corrupt` when the result with the put's evidence id is the same, which an index
   * should have found.
   */
  #requireNotSame(run: number, put: StreamedPut): void {
    const holder = this.#reader.byEvidenceId(run, put.toolUseId)
    if (holder === undefined) this.#free = { run, id: put.toolUseId }
    if (holder === undefined || holder.tool_use_id !== put.toolUseId) return
    const isSame =
      holder.sha256.toString('hex') === put.sha256 &&
      holder.outcome === put.outcome &&
      holder.kind === put.kind
    if (isSame) throw damaged()
  }

  /**
   * Whether {@link findSame} may still find a put with these names, of which `bytes` have come so
   * far.
   */
  mayHave(run: RunRow, { toolUseId, idempotencyKey }: PutNames, bytes: number): boolean {
    if (idempotencyKey !== null) {
      return this.#reader.byIdempotencyKey(run.key, idempotencyKey) !== undefined
    }
    return toolUseId !== '' && this.#sql.hasLarger.get(run.key, toolUseId, bytes) !== undefined
  }

  /**
   * Stores a result under the run's next number. The caller has already checked the limits and
   * written the chunks. Returns the row, and the changed run, which the caller writes.
   */
  keep(place: Place, put: StreamedPut, keys: ChunkKeys): { row: NewResultRow; run: RunRow } {
    const { run } = place
    const failures = failuresAfter(run, put)
    const row = this.#rowOf(place, put, { ...keys, repeats: failures.repeats })
    this.#free = NO_ID
    this.#sql.insert.run(...columnsOf(row))
    const { number, recall_name: recallName, repeats } = row
    const counted = {
      ...run,
      last_number: number,
      results: run.results + 1,
      kept_bytes: run.kept_bytes + row.total_bytes,
      produced_chars: run.produced_chars + put.totals.chars,
      shown_chars: run.shown_chars + shownChars(put.shown, { number, recallName, repeats }),
      failure_key: failures.key,
      failure_repeats: failures.run,
    }
    return { row, run: counted }
  }

  byNumber(run: number, number: number): ResultRow | undefined {
    return this.#reader.byNumber(run, number)
  }

  byEvidenceId(run: number, evidenceId: string): ResultRow | undefined {
    const { run: freeIn, id } = this.#free
    if (run === freeIn && evidenceId === id) return undefined
    return this.#reader.byEvidenceId(run, evidenceId)
  }

  rename(row: ResultRow, evidenceId: string, recallName: string): void {
    const renamed = { ...row, evidence_id: evidenceId, recall_name: recallName }
    this.#sql.rename.run(evidenceId, recallName, RESULT_CHECK.of(renamed), row.key)
  }

  /**
   * Erases results of a run while `budget` (see `eraseCost`) lasts. Returns the rest of the budget:
   * above 0 when all results are erased.
   */
  erase(run: number, budget: number): number {
    this.#ids.forget()
    let left = budget
    while (left > 0) {
      const rows = this.#sql.first.all(run, left)
      if (rows.length === 0) return left
      for (const row of rows) {
        if (left > 0) left -= this.#eraseOne(RESULT_CHECK.require(row, { run }), left)
      }
    }
    return 0
  }

  /** Called after a failed transaction. */
  forget(): void {
    this.#free = NO_ID
    this.#ids.forget()
  }

  /** Throws `over_limit` when the run has no room for another result of `bytes`. */
  requireRoom(
    { results, kept_bytes }: Pick<RunRow, 'results' | 'kept_bytes'>,
    bytes: number,
  ): void {
    const { maxResultsPerRun, maxBytesPerRun } = this.#policy
    if (results >= maxResultsPerRun) {
      const detail = `The run holds ${results} results, which is the limit. Put into another run.`
      throw new CoatcheckError('over_limit', detail, {
        limit: 'results_per_run',
        value: maxResultsPerRun,
      })
    }
    if (kept_bytes + bytes > maxBytesPerRun) {
      const detail = `The run holds ${kept_bytes} bytes, and ${bytes} more would pass the limit of ${maxBytesPerRun}. Put into another run.`
      throw new CoatcheckError('over_limit', detail, {
        limit: 'bytes_per_run',
        value: maxBytesPerRun,
      })
    }
  }

  /** Erases a result, or as many of its last chunks as the budget allows. Returns the cost. */
  #eraseOne(row: ResultRow, budget: number): number {
    const { key, chunks, total_bytes } = row
    const cost = eraseCost(total_bytes)
    const erased = Math.min(Math.ceil(budget / cost), chunks)
    this.#chunks.erase(key, { first: key + chunks - erased, end: key + chunks })
    const left = { ...row, chunks: chunks - erased }
    if (left.chunks > 0) this.#sql.shorten.run(left.chunks, RESULT_CHECK.of(left), key)
    else this.#sql.erase.run(key)
    return erased * cost
  }

  #rowOf(
    { run, now }: Place,
    put: StreamedPut,
    drawn: ChunkKeys & { readonly repeats: number },
  ): NewResultRow {
    const number = run.last_number + 1
    const { evidenceId, recallName } = this.#ids.draw(run.key, put.toolUseId, number)
    const isViewed = put.kind !== 'binary'
    const { totals } = put
    return {
      ...drawn,
      run: run.key,
      number,
      evidence_id: evidenceId,
      recall_name: recallName,
      tool_use_id: put.toolUseId,
      idempotency_key: put.idempotencyKey,
      tool_name: put.toolName,
      outcome: put.outcome,
      kind: put.kind,
      media_type: put.mediaType,
      total_bytes: put.totalBytes,
      total_chars: isViewed ? totals.chars : null,
      total_lines: isViewed ? totals.lines : null,
      view_bytes: totals.bytes,
      sha256: Buffer.from(put.sha256, 'hex'),
      view_form: put.view.form,
      view_start: put.view.start,
      view_end: put.view.end,
      preview: put.preview,
      hint: put.hint,
      verbatim_limit_chars: put.verbatimLimitChars,
      created_at: now,
    }
  }
}

/**
 * Replaces the value of a put by its size and digest. The digest is computed here, in the thread
 * that has less to do.
 */
export function withoutValue({ value, plan, sha256, ...put }: Put): StreamedPut {
  const digest = sha256 ?? sha256Hex(value)
  return { ...put, sha256: digest, totalBytes: value.length, totals: plan.view }
}

/**
 * Number of times that this failure has occurred in a row, and what the run remembers for the next
 * one.
 */
function failuresAfter(run: RunRow, { outcome, failureKey }: StreamedPut) {
  switch (outcome) {
    case 'output':
      return { repeats: 1, key: null, run: 0 }
    case 'suspension':
      return { repeats: 1, key: run.failure_key, run: run.failure_repeats }
    case 'failure': {
      const again = failureKey !== null && failureKey === run.failure_key
      const repeats = again ? run.failure_repeats + 1 : 1
      return { repeats, key: failureKey, run: repeats }
    }
    default:
      return outcome satisfies never
  }
}
