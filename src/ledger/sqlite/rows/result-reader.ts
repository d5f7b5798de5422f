/**
 * The rows of results and their chunks, found. Reads alone, and in the caller's transaction; on either connection. Whether a
 * run may be read is decided in `reader.ts`.
 */
import type Database from 'better-sqlite3'
import { recallHandleNumber } from '../../../core/handles.ts'
import type { ResultQuery } from '../../ledger.ts'
import {
  type KeptRow,
  prepareResultReads,
  type ResultRange,
  type ResultRow,
} from './result-statements.ts'

export class ResultReader {
  readonly #sql: ReturnType<typeof prepareResultReads>

  constructor(db: Database.Database) {
    this.#sql = prepareResultReads(db)
  }

  find(run: number, query: ResultQuery): ResultRow | undefined {
    if ('number' in query) return this.byNumber(run, query.number)
    if ('idempotencyKey' in query) return this.byIdempotencyKey(run, query.idempotencyKey)
    const found = this.byEvidenceId(run, query.recall)
    if (found !== undefined) return found
    const number = recallHandleNumber(query.recall)
    return number === undefined ? undefined : this.byNumber(run, number)
  }

  /** Rows of a range in the order of their numbers, read as they are asked for. */
  list(range: ResultRange, toolUseId: string | undefined): IterableIterator<ResultRow> {
    if (toolUseId === undefined) return this.#sql.list.iterate(range)
    if (toolUseId === '') return this.#sql.listWithoutCall.iterate(range)
    return this.#sql.listByCall.iterate({ ...range, toolUseId })
  }

  /** The number of the `n`-th result behind `after`; of those under a tool use id when one is given. */
  nth(
    run: number,
    n: number,
    how: { after: number; toolUseId?: string | undefined },
  ): number | undefined {
    const { after, toolUseId = '' } = how
    if (toolUseId === '') return this.#sql.nth.get(run, after, n)
    return this.#sql.nthOfCall.get({ run, toolUseId, after, n })
  }

  firstNumbers(run: number, limit: number): readonly number[] {
    return this.#sql.firstNumbers.all(run, limit)
  }

  kept(key: number): KeptRow | undefined {
    return this.#sql.kept.get(key)
  }

  byNumber(run: number, number: number): ResultRow | undefined {
    return this.#sql.byNumber.get(run, number)
  }

  byIdempotencyKey(run: number, key: string): ResultRow | undefined {
    return this.#sql.byIdempotencyKey.get(run, key)
  }

  byEvidenceId(run: number, evidenceId: string): ResultRow | undefined {
    return this.#sql.byEvidenceId.get(run, evidenceId)
  }
}
