/**
 * The rows of results and their chunks: kept, renamed, erased. Synchronous, and in the caller's transaction. Whether a run
 * may be put to is decided in `store.ts`.
 */
import type Database from 'better-sqlite3'
import { shownChars } from '../../core/content.ts'
import { CoatcheckError } from '../../core/errors.ts'
import type { LedgerPolicy, Put } from '../ledger.ts'
import { ChunkWriter } from './chunks.ts'
import { EvidenceIds, type ResultNames } from './evidence-ids.ts'
import type { ResultReader } from './result-reader.ts'
import { prepareResultWrites, type ResultRow } from './result-statements.ts'
import type { RunRow } from './run-state.ts'
import type { RunCounts } from './run-statements.ts'

interface Place {
  readonly run: RunRow
  readonly now: number
}

export class Results implements ResultNames {
  readonly #policy: LedgerPolicy
  readonly #reader: ResultReader
  readonly #chunks: ChunkWriter
  readonly #sql: ReturnType<typeof prepareResultWrites>
  readonly #ids: EvidenceIds
  /** Only grows while the process lives, so that a result which was erased under its reader never names another's chunks. */
  #nextKey: number

  /** `reader` is of the same connection. */
  constructor(db: Database.Database, policy: LedgerPolicy, reader: ResultReader) {
    this.#policy = policy
    this.#reader = reader
    this.#chunks = new ChunkWriter(db)
    this.#sql = prepareResultWrites(db)
    this.#ids = new EvidenceIds(this)
    this.#nextKey = this.#sql.nextKey.get() as number
  }

  /** The result that `put` repeats, if it does. */
  findSame(run: RunRow, put: Put): ResultRow | undefined {
    if (put.idempotencyKey !== null) {
      return this.#sql.byIdempotencyKey.get(run.key, put.idempotencyKey)
    }
    return this.#sql.same.get({
      run: run.key,
      toolUseId: put.toolUseId,
      outcome: put.outcome,
      kind: put.kind,
      sha256: Buffer.from(put.sha256, 'hex'),
      totalBytes: put.value.length,
    })
  }

  /** Keeps a result under the run's next number, and says what the run has to count. Throws `over_limit`. */
  keep(place: Place, put: Put): { row: ResultRow; counts: RunCounts } {
    const { run } = place
    this.#requireRoom(run, put)
    const key = this.#nextKey
    this.#nextKey += put.plan.chunks.length
    const failures = failuresAfter(run, put)
    const row = this.#rowOf(place, put, { key, repeats: failures.repeats })
    this.#sql.insert.run(row)
    this.#chunks.keep(key, put)
    return {
      row,
      counts: {
        number: row.number,
        bytes: row.total_bytes,
        producedChars: put.plan.view.chars,
        shownChars: shownChars(put.shown, {
          number: row.number,
          recallName: row.recall_name,
          repeats: row.repeats,
        }),
        failureKey: failures.key,
        failureRepeats: failures.run,
      },
    }
  }

  byNumber(run: number, number: number): ResultRow | undefined {
    return this.#reader.byNumber(run, number)
  }

  byEvidenceId(run: number, evidenceId: string): ResultRow | undefined {
    return this.#reader.byEvidenceId(run, evidenceId)
  }

  rename(row: ResultRow, evidenceId: string, recallName: string): void {
    this.#sql.rename.run(evidenceId, recallName, row.key)
  }

  /** Erases at most so many rows of a run; returns how many are left of the budget, which is above 0 when all are gone. */
  erase(run: number, budgetRows: number): number {
    this.#ids.forget()
    let left = budgetRows
    while (left > 0) {
      const row = this.#sql.first.get(run)
      if (row === undefined) return left
      const chunks = Math.min(left, row.chunks)
      this.#chunks.erase(row.key + row.chunks - chunks, row.key + row.chunks)
      if (chunks < row.chunks) this.#sql.shorten.run(chunks, row.key)
      else this.#sql.erase.run(row.key)
      left -= chunks
    }
    return 0
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#ids.forget()
  }

  #requireRoom({ results, kept_bytes }: RunRow, { value }: Put): void {
    const { maxResultsPerRun, maxBytesPerRun } = this.#policy
    if (results >= maxResultsPerRun) {
      const detail = `The run holds ${results} results, which is the limit. Put into another run.`
      throw new CoatcheckError('over_limit', detail, {
        limit: 'results_per_run',
        value: maxResultsPerRun,
      })
    }
    if (kept_bytes + value.length > maxBytesPerRun) {
      const detail = `The run holds ${kept_bytes} bytes, and ${value.length} more would pass the limit of ${maxBytesPerRun}. Put into another run.`
      throw new CoatcheckError('over_limit', detail, {
        limit: 'bytes_per_run',
        value: maxBytesPerRun,
      })
    }
  }

  #rowOf({ run, now }: Place, put: Put, drawn: { key: number; repeats: number }): ResultRow {
    const number = run.last_number + 1
    const { evidenceId, recallName } = this.#ids.draw(run.key, put.toolUseId, number)
    const isViewed = put.kind !== 'binary'
    const { view } = put.plan
    return {
      ...drawn,
      chunks: put.plan.chunks.length,
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
      total_bytes: put.value.length,
      total_chars: isViewed ? view.chars : null,
      total_lines: isViewed ? view.lines : null,
      view_bytes: view.bytes,
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

/** How often this failure has now happened in a row, and what the run remembers for the next. */
function failuresAfter(run: RunRow, { outcome, failureKey }: Put) {
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
