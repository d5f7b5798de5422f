/** SQL of `result-reader.ts` and `results.ts`, and the rows of results. */
import type Database from 'better-sqlite3'
import type { HintKind } from '../../../core/content.ts'
import type { ViewForm } from '../../../core/view/view.ts'
import type { Kind, Outcome, Result } from '../../ledger.ts'
import { type Column, RowCheck, rowChecksum } from './row-checksum.ts'

/** Row of a result. */
export interface ResultRow {
  readonly key: number
  readonly chunks: number
  readonly run: number
  readonly number: number
  readonly evidence_id: string
  readonly recall_name: string
  readonly tool_use_id: string
  readonly idempotency_key: string | null
  readonly tool_name: string | null
  readonly outcome: Outcome
  readonly kind: Kind
  readonly media_type: string
  readonly total_bytes: number
  readonly total_chars: number | null
  readonly total_lines: number | null
  readonly view_bytes: number
  readonly sha256: Buffer
  readonly view_form: ViewForm
  readonly view_start: number
  readonly view_end: number
  readonly preview: string
  readonly hint: HintKind
  readonly repeats: number
  readonly verbatim_limit_chars: number
  readonly created_at: number
  /** Null in a row that was written before this column existed. */
  readonly row_checksum: number | null
}

/** Row without its checksum. */
export type NewResultRow = Omit<ResultRow, 'row_checksum'>

/** Columns that reading a value needs. */
export type KeptRow = Pick<ResultRow, 'key' | 'run' | 'chunks' | 'total_bytes'>

const COLUMNS = [
  'key',
  'chunks',
  'run',
  'number',
  'evidence_id',
  'recall_name',
  'tool_use_id',
  'idempotency_key',
  'tool_name',
  'outcome',
  'kind',
  'media_type',
  'total_bytes',
  'total_chars',
  'total_lines',
  'view_bytes',
  'sha256',
  'view_form',
  'view_start',
  'view_end',
  'preview',
  'hint',
  'repeats',
  'verbatim_limit_chars',
  'created_at',
] as const satisfies readonly (keyof ResultRow)[]

/** Checks rows of results. */
export const RESULT_CHECK = new RowCheck<ResultRow>(COLUMNS)

/** Columns that are equal in a result and its retry. */
export interface SamePut {
  readonly run: number
  readonly toolUseId: string
  readonly outcome: Outcome
  readonly kind: Kind
  readonly sha256: Buffer
  readonly totalBytes: number
}

/** Results of a run by their numbers, `after` excluded and `until` included. */
export interface ResultRange {
  readonly run: number
  readonly after: number
  readonly until: number
}

const ALL = 'SELECT * FROM results'
const IN_RANGE = 'run = $run AND number > $after AND number <= $until'
/** Condition for rows whose evidence id is not their tool use id. */
const COPY = "tool_use_id <> '' AND evidence_id <> tool_use_id"
const SAME = `
  WHERE run = $run AND tool_use_id = $toolUseId AND tool_use_id <> '' AND sha256 = $sha256
    AND total_bytes = $totalBytes AND outcome = $outcome AND kind = $kind`

/** Prepares the statements that read results. */
export function prepareResultReads(db: Database.Database) {
  return {
    kept: db.prepare<[number], ResultRow>(`${ALL} WHERE key = ?`),
    byNumber: db.prepare<[number, number], ResultRow>(`${ALL} WHERE run = ? AND number = ?`),
    byEvidenceId: db.prepare<[number, string], ResultRow>(
      `${ALL} WHERE run = ? AND evidence_id = ?`,
    ),
    byIdempotencyKey: db.prepare<[number, string], ResultRow>(
      `${ALL} WHERE run = ? AND idempotency_key = ?`,
    ),
    /** Number of the `n`-th result after another. */
    nth: db
      .prepare<[number, number, number], number>(
        'SELECT number FROM results WHERE run = ? AND number > ? ORDER BY number LIMIT 1 OFFSET ? - 1',
      )
      .pluck(),
    list: db.prepare<[ResultRange], ResultRow>(`${ALL} WHERE ${IN_RANGE} ORDER BY number`),
    nthOfCall: db
      .prepare<[{ run: number; toolUseId: string; after: number; n: number }], number>(
        `SELECT number FROM results INDEXED BY results_by_call
         WHERE run = $run AND tool_use_id = $toolUseId AND tool_use_id <> '' AND number > $after
         ORDER BY number LIMIT 1 OFFSET $n - 1`,
      )
      .pluck(),
    // Finds the numbers first, from the index alone: the rows are wide, and only a page of them is
    // wanted.
    listByCall: db.prepare<[ResultRange & { toolUseId: string }], ResultRow>(
      `${ALL}
       WHERE run = $run AND number IN (
         SELECT number FROM results INDEXED BY results_by_call
         WHERE ${IN_RANGE} AND tool_use_id = $toolUseId AND tool_use_id <> ''
         ORDER BY number)
       ORDER BY number`,
    ),
    /** Numbers of results with a tool use id, by two indexes: of all of them, and of copies. */
    ofCall: db
      .prepare<[number, string], number>(
        `SELECT count(*) FROM results INDEXED BY results_by_call
         WHERE run = ? AND tool_use_id = ? AND tool_use_id <> ''`,
      )
      .pluck(),
    ofCallInRange: db
      .prepare<[ResultRange & { toolUseId: string }], number>(
        `SELECT count(*) FROM results INDEXED BY results_by_call
         WHERE ${IN_RANGE} AND tool_use_id = $toolUseId AND tool_use_id <> ''`,
      )
      .pluck(),
    copiesOfCall: db
      .prepare<[number, string], number>(
        `SELECT count(*) FROM results INDEXED BY copies_by_call
         WHERE run = ? AND tool_use_id = ? AND ${COPY}`,
      )
      .pluck(),
    anyOfCall: db
      .prepare<[number, string], number>(
        `SELECT 1 FROM results INDEXED BY results_by_call
         WHERE run = ? AND tool_use_id = ? AND tool_use_id <> '' LIMIT 1`,
      )
      .pluck(),
    copyById: db
      .prepare<[number, string], number>(
        `SELECT 1 FROM results INDEXED BY copies_by_id
         WHERE run = ? AND evidence_id = ? AND ${COPY}`,
      )
      .pluck(),
    byKeyAgain: db
      .prepare<[number, string], number>(
        `SELECT 1 FROM results INDEXED BY results_by_key_again
         WHERE run = ? AND idempotency_key = ? AND idempotency_key IS NOT NULL`,
      )
      .pluck(),
  }
}

/** Prepares the statements that write results. */
export function prepareResultWrites(db: Database.Database) {
  return {
    // Bound by position: names are looked up at every call.
    insert: db.prepare<ReturnType<typeof columnsOf>>(
      `INSERT INTO results (${COLUMNS.join(', ')}, row_checksum)
       VALUES (${COLUMNS.map(() => '?').join(', ')}, ?)`,
    ),
    // Asked first: SQLite compiles the next statement anew at every call, because of its order on a
    // partial index.
    hasSame: db.prepare<[SamePut], number>(`SELECT 1 FROM results ${SAME} LIMIT 1`).pluck(),
    same: db.prepare<[SamePut], ResultRow>(`${ALL} ${SAME} ORDER BY number LIMIT 1`),
    hasLarger: db
      .prepare<[number, string, number], number>(
        `SELECT 1 FROM results
         WHERE run = ? AND tool_use_id = ? AND tool_use_id <> '' AND total_bytes >= ? LIMIT 1`,
      )
      .pluck(),
    rename: db.prepare<[string, string, number, number]>(
      'UPDATE results SET evidence_id = ?, recall_name = ?, row_checksum = ? WHERE key = ?',
    ),
    first: db.prepare<[number, number], ResultRow>(`${ALL} WHERE run = ? ORDER BY number LIMIT ?`),
    shorten: db.prepare<[number, number, number]>(
      'UPDATE results SET chunks = ?, row_checksum = ? WHERE key = ?',
    ),
    erase: db.prepare<[number]>('DELETE FROM results WHERE key = ?'),
  }
}

/** Columns of a row in the order of the INSERT, with its checksum. */
export function columnsOf(row: NewResultRow): Column[] {
  const columns: Column[] = COLUMNS.map((name) => row[name])
  columns.push(rowChecksum(columns))
  return columns
}

/** Turns a row into a result of the contract. */
export function toResult(row: NewResultRow): Result {
  return {
    key: row.key,
    number: row.number,
    evidenceId: row.evidence_id,
    recallName: row.recall_name,
    toolUseId: row.tool_use_id,
    toolName: row.tool_name,
    outcome: row.outcome,
    kind: row.kind,
    mediaType: row.media_type,
    totalBytes: row.total_bytes,
    totalChars: row.total_chars,
    totalLines: row.total_lines,
    viewBytes: row.view_bytes,
    sha256: row.sha256.toString('hex'),
    view: { form: row.view_form, start: row.view_start, end: row.view_end },
    preview: row.preview,
    hint: row.hint,
    repeats: row.repeats,
    verbatimLimitChars: row.verbatim_limit_chars,
    createdAt: row.created_at,
  }
}
