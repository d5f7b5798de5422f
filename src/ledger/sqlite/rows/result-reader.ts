/**
 * The rows of results and their chunks, found. Reads alone, and in the caller's transaction; on either connection. Whether a
 * run may be read is decided in `reader.ts`.
 */
import type Database from 'better-sqlite3'
import { recallHandleNumber } from '../../../core/handles.ts'
import type { ResultQuery } from '../../ledger.ts'
import { type KeptRow, prepareResultReads, type ResultRow } from './result-statements.ts'

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

  list(
    run: number,
    page: { after: number; limit: number; toolUseId?: string | undefined },
  ): readonly ResultRow[] {
    const { after, limit, toolUseId } = page
    if (toolUseId === undefined) return this.#sql.list.all(run, after, limit)
    if (toolUseId === '') return this.#sql.listWithoutCall.all(run, after, limit)
    return this.#sql.listByCall.all({ run, toolUseId, after, limit })
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
