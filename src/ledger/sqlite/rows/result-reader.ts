/**
 * Finds rows of results. Only reads, in the caller's transaction, on either connection. Whether a
 * run may be read is decided in `reader.ts`. Every row is checked: all methods throw
 * `ledger_corrupt` for a damaged one.
 */
import type Database from 'better-sqlite3'
import { recallHandleNumber } from '../../../core/handles.ts'
import type { ResultQuery } from '../../ledger.ts'
import {
  type KeptRow,
  prepareResultReads,
  RESULT_CHECK,
  type ResultRange,
  type ResultRow,
} from './result-statements.ts'
import { damaged } from './row-checksum.ts'
import type { RunRow } from './run-state.ts'

/** Finds rows of results by number, id and key. */
export class ResultReader {
  readonly #sql: ReturnType<typeof prepareResultReads>

  constructor(db: Database.Database) {
    this.#sql = prepareResultReads(db)
  }

  /** Finds the result that `query` names in the run with the key `run`. */
  find(run: number, query: ResultQuery): ResultRow | undefined {
    if ('number' in query) return this.byNumber(run, query.number)
    if ('idempotencyKey' in query) return this.byIdempotencyKey(run, query.idempotencyKey)
    const found = this.byEvidenceId(run, query.recall)
    if (found !== undefined) return found
    const number = recallHandleNumber(query.recall)
    return number === undefined ? undefined : this.byNumber(run, number)
  }

  /**
   * Yields the rows of a range in the order of their numbers, reading as they are asked for. With
   * `toolUseId`, only those with this id; the empty string stands for results without an id.
   *
   * Throws `ledger_corrupt` also when a row is missing. Numbers have no gap between the run's first
   * and last result, unless a damaged log has lost some.
   */
  *list(range: ResultRange, toolUseId: string | undefined, run: Numbered): Generator<ResultRow> {
    if (toolUseId !== undefined && toolUseId !== '') {
      yield* this.#listCall({ ...range, toolUseId })
      return
    }
    const hasGaps = run.lost_numbers > 0
    let before = hasGaps ? range.after : Math.max(range.after, run.last_number - run.results)
    for (const row of this.#sql.list.iterate(range)) {
      RESULT_CHECK.require(row, { run: range.run })
      const isNext = hasGaps ? row.number > before : row.number === before + 1
      if (!isNext) throw damaged()
      before = row.number
      if (toolUseId === undefined || row.tool_use_id === '') yield row
    }
    if (!hasGaps && before < Math.min(range.until, run.last_number)) throw damaged()
  }

  *#listCall(range: ResultRange & { readonly toolUseId: string }): Generator<ResultRow> {
    const { run, toolUseId } = range
    this.#requireCall(run, toolUseId)
    let rows = 0
    for (const row of this.#sql.listByCall.iterate(range)) {
      rows++
      yield RESULT_CHECK.require(row, { run, tool_use_id: toolUseId })
    }
    if (rows !== this.#sql.ofCallInRange.get(range)) throw damaged()
  }

  /**
   * Throws `ledger_corrupt` when an index lacks a result of a tool use id. The first result of the
   * id has it as its evidence id, unless another result had taken it. All others have copies of it.
   * So the two indexes, of all results and of copies, must agree.
   */
  #requireCall(run: number, toolUseId: string): void {
    const all = this.#sql.ofCall.get(run, toolUseId) ?? 0
    const copies = this.#sql.copiesOfCall.get(run, toolUseId) ?? 0
    const holder = this.byEvidenceId(run, toolUseId)
    const first = holder?.tool_use_id === toolUseId ? 1 : 0
    if (all !== copies + first) throw damaged()
  }

  /**
   * Number of the `n`-th result after `after`, among those with the tool use id when one is given.
   * Undefined when there are fewer.
   */
  nth(
    run: number,
    n: number,
    how: { after: number; toolUseId?: string | undefined },
  ): number | undefined {
    const { after, toolUseId = '' } = how
    if (toolUseId === '') return this.#sql.nth.get(run, after, n)
    return this.#sql.nthOfCall.get({ run, toolUseId, after, n })
  }

  /** Finds the result with the internal key `key`. */
  kept(key: number): KeptRow | undefined {
    const row = this.#sql.kept.get(key)
    return row && RESULT_CHECK.require(row, { key })
  }

  /** Finds a result by the number of its handle. */
  byNumber(run: number, number: number): ResultRow | undefined {
    const row = this.#sql.byNumber.get(run, number)
    return row && RESULT_CHECK.require(row, { run, number })
  }

  /**
   * Finds a result by its idempotency key. Throws `ledger_corrupt` also when only one of two
   * indexes has the key, since its put would be stored again.
   */
  byIdempotencyKey(run: number, key: string): ResultRow | undefined {
    const row = this.#sql.byIdempotencyKey.get(run, key)
    if (row !== undefined) return RESULT_CHECK.require(row, { run, idempotency_key: key })
    if (this.#sql.byKeyAgain.get(run, key) !== undefined) throw damaged()
    return undefined
  }

  /**
   * Finds a result by its evidence id. Throws `ledger_corrupt` also when another index has a result
   * that must have the id, since the id would be given twice.
   */
  byEvidenceId(run: number, evidenceId: string): ResultRow | undefined {
    const row = this.#sql.byEvidenceId.get(run, evidenceId)
    if (row !== undefined) return RESULT_CHECK.require(row, { run, evidence_id: evidenceId })
    // When a tool use id reads as a handle, all its results may have copies of it.
    const isHandle = recallHandleNumber(evidenceId) !== undefined
    const isHidden =
      (!isHandle && this.#sql.anyOfCall.get(run, evidenceId) !== undefined) ||
      this.#sql.copyById.get(run, evidenceId) !== undefined
    if (isHidden) throw damaged()
    return undefined
  }

  /**
   * Checks a number whose result was not found. Throws `ledger_corrupt` when the run must have a
   * result with it.
   */
  requireNotGiven(number: number, run: Numbered): void {
    const { last_number: last, results, lost_numbers: lost } = run
    if (lost > 0) return
    if (number > last - results && number <= last) throw damaged()
  }
}

/**
 * Columns of a run from which the numbers of its results follow. They have no gap between the first
 * and the last, unless a damaged log has lost some.
 */
type Numbered = Pick<RunRow, 'last_number' | 'results' | 'lost_numbers'>
