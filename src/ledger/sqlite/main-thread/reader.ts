/**
 * Reads the ledger: synchronous calls on a connection that cannot write. Each call sees the state
 * of one commit. Answers are plain values.
 */
import type Database from 'better-sqlite3'
import { CoatcheckError } from '../../../core/errors.ts'
import { recallHandleNumber } from '../../../core/handles.ts'
import type {
  Chunk,
  ChunkSeek,
  LedgerPolicy,
  Result,
  ResultQuery,
  Run,
  RunRef,
  Standing,
  Totals,
} from '../../ledger.ts'
import type { ResultsQuery } from '../../lists.ts'
import { ledgerError } from '../file/sqlite-errors.ts'
import { misplaced } from '../rows/chunk-integrity.ts'
import { type ChunkKeys, ChunkReader } from '../rows/chunks.ts'
import { ResultReader } from '../rows/result-reader.ts'
import { type KeptRow, type ResultRow, toResult } from '../rows/result-statements.ts'
import { type Noted, RunReader } from '../rows/run-reader.ts'
import { isReadable, type RunRow, toRun } from '../rows/run-state.ts'
import type { RunRange } from '../rows/run-statements.ts'
import type { ChunkCache } from './chunk-cache.ts'
import { OpenRuns } from './run-cache.ts'

/**
 * Bounds of one step of a list, some milliseconds of work: results, and UTF-16 units of their
 * previews.
 */
const STEP_RESULTS = 2_000
const STEP_PREVIEW_UNITS = 4_194_304

/** Filters of a list, and the number after which it goes on. */
export type ResultsStep = Pick<ResultsQuery, 'toolUseId' | 'toolName' | 'outcome' | 'kind'> & {
  readonly after: number
}

/** The chunk that was sought, and the range of the chunks after it. */
export interface FoundChunk {
  /** The chunk; empty when there is none. */
  readonly chunks: readonly Chunk[]
  readonly rest: ChunkRange
}

/** Range of a value's chunks by key: `[first, end)`. */
export interface ChunkRange {
  /** Key of their result; null for an unfinished upload. */
  readonly result: number | null
  readonly first: number
  readonly end: number
}

/** Reads on a connection of its own. Throws the errors of the contract. */
export class Reader {
  readonly #db: Database.Database
  readonly #runs: RunReader
  readonly #results: ResultReader
  readonly #chunks: ChunkReader
  readonly #cache: ChunkCache
  readonly #openRuns = new OpenRuns()
  readonly #snapshot: Database.Transaction<(query: () => unknown) => unknown>
  /** The last time that a caller brought, for reads without a time. */
  #now = 0

  /** Takes over the connection, which is closed by {@link close}. */
  constructor(
    db: Database.Database,
    policy: LedgerPolicy,
    { noted, cache }: { readonly noted: Noted; readonly cache: ChunkCache },
  ) {
    this.#cache = cache
    this.#db = db
    this.#runs = new RunReader(db, policy, noted)
    this.#results = new ResultReader(db)
    this.#chunks = new ChunkReader(db)
    this.#snapshot = db.transaction((query: () => unknown) => query())
  }

  /** Notes the time that a caller brought. */
  tell(now: number): void {
    this.#now = now
  }

  /** Reads from the file. Throws when that fails. */
  ping(): void {
    this.#read(() => this.#runs.ping())
  }

  findRun(ref: RunRef, now: number): Run | undefined {
    this.#now = now
    return this.#read(() => {
      const row = this.#runs.find(ref, now)
      return row && this.#runs.toRun(row)
    })
  }

  /** Returns the first settled rows of a range of ids. With `desc`, the last ones first. */
  stepRuns(
    tenant: string,
    range: Omit<RunRange, 'tenant'> & { readonly desc: boolean },
    now: number,
  ): readonly RunRow[] {
    this.#now = now
    const { desc, ...ids } = range
    return this.#read(() => this.#runs.list({ tenant, ...ids }, { desc }, now))
  }

  totals(): Totals {
    return this.#read(() => this.#runs.totals())
  }

  findStanding(ref: RunRef, now: number): Standing | undefined {
    const row = this.#standing(ref, now)
    return row && toRun(row, [])
  }

  /** Finds the key of an open run. Undefined for any other run. */
  findOpenKey(ref: RunRef, now: number): number | undefined {
    const row = this.#standing(ref, now)
    return row?.state === 'open' ? row.key : undefined
  }

  /** Runs `change`. Runs that are asked for during it and after it are read again. */
  changing<Answer>(change: () => Promise<Answer>): Promise<Answer> {
    return this.#openRuns.during(change)
  }

  findTool(ref: RunRef, name: string): Buffer | undefined {
    return this.#read(() => {
      const row = this.#runs.find(ref, this.#now)
      return row && this.#runs.tool(row, name)
    })
  }

  findResult(ref: RunRef, query: ResultQuery): Result | undefined {
    return this.#read(() => {
      const run = this.#readable(ref)
      const row = run && this.#results.find(run.key, query)
      if (run !== undefined && row === undefined) this.#requireNone(run.key, query)
      return row && toResult(row)
    })
  }

  /**
   * Passes the results after `query.after` to `add`, in order, until it returns false. Returns the
   * number up to which results were examined. Undefined when the list is at its end, or `add`
   * returned false.
   */
  stepResults(
    ref: RunRef,
    query: ResultsStep,
    add: (result: Result) => boolean,
  ): number | undefined {
    const { after, toolUseId } = query
    return this.#read(() => {
      const run = this.#readable(ref)
      if (run === undefined) return undefined
      const end = this.#results.nth(run.key, STEP_RESULTS, { after, toolUseId })
      const until = end ?? Number.MAX_SAFE_INTEGER
      const range = { run: run.key, after, until }
      let units = 0
      // The row may have been read before the latest puts.
      const numbered = this.#runs.findByKey(run.key, this.#now) ?? run
      for (const row of this.#results.list(range, toolUseId, numbered)) {
        if (matches(row, query) && !add(toResult(row))) return undefined
        units += row.preview.length
        if (units > STEP_PREVIEW_UNITS) return row.number
      }
      return end
    })
  }

  /** Throws `ledger_corrupt` when the run has given the number, since its result was not found. */
  #requireNotGiven(run: number, number: number): void {
    // The row may have been read before the latest puts.
    const row = this.#runs.findByKey(run, this.#now)
    if (row !== undefined) this.#results.requireNotGiven(number, row)
  }

  #requireNone(run: number, query: ResultQuery): void {
    if ('number' in query) this.#requireNotGiven(run, query.number)
    else if ('recall' in query) {
      const number = recallHandleNumber(query.recall)
      if (number !== undefined) this.#requireNotGiven(run, number)
    }
  }

  firstNumbers(ref: RunRef, limit: number): readonly number[] {
    return this.#read(() => {
      const run = this.#readable(ref)
      const row = run && this.#runs.findByKey(run.key, this.#now)
      if (row === undefined) return []
      if (row.lost_numbers > 0) {
        const range = { run: row.key, after: 0, until: Number.MAX_SAFE_INTEGER }
        const numbers: number[] = []
        for (const { number } of this.#results.list(range, undefined, row)) {
          if (numbers.push(number) >= limit) break
        }
        return numbers
      }
      const first = row.last_number - row.results + 1
      return Array.from({ length: Math.min(limit, row.results) }, (_, n) => first + n)
    })
  }

  /**
   * Finds the chunk of a value that `seek` names. Throws `evicted` when the value was erased, and
   * `ledger_corrupt`.
   */
  findChunk({ key }: Result, seek: ChunkSeek): FoundChunk {
    return this.#read(() => {
      const row = this.#kept(key)
      const first = key + this.#chunks.find(row, seek)
      const rest = { result: key, first: first + 1, end: key + row.chunks }
      return { chunks: this.#keptChunks(row, first, rest.first), rest }
    })
  }

  /** Finds the chunk that `seek` names among those that an upload has so far. */
  findStaged({ key, chunks }: ChunkKeys, seek: ChunkSeek): FoundChunk {
    return this.#read(() => {
      const first = key + this.#chunks.seek(key, seek)
      const end = key + chunks
      const next = Math.min(first + 1, end)
      return { chunks: this.#stagedChunks(first, next), rest: { result: null, first: next, end } }
    })
  }

  /**
   * Reads all chunks of the range. Throws `evicted` when any of them was erased, and
   * `ledger_corrupt`.
   */
  readChunks({ result, first, end }: ChunkRange): readonly Chunk[] {
    return this.#read(() =>
      result === null
        ? this.#stagedChunks(first, end)
        : this.#keptChunks(this.#kept(result), first, end),
    )
  }

  /** Drops cached chunks. Called after rows were erased. */
  forget(): void {
    this.#cache.clear()
  }

  close(): void {
    this.#db.close()
  }

  #keptChunks(row: KeptRow, first: number, end: number): readonly Chunk[] {
    const chunks = this.#cache.read(first, end, (from, until) => this.#chunks.read(from, until))
    requireWhole(chunks, { first, end }, row)
    return chunks
  }

  #stagedChunks(first: number, end: number): readonly Chunk[] {
    const chunks = this.#chunks.read(first, end)
    if (chunks.length < end - first) throw erased()
    return chunks
  }

  /** Row of a result. Throws `evicted` when its value may not be read any more. */
  #kept(key: number): KeptRow {
    const row = this.#results.kept(key)
    const run = row && this.#runs.findByKey(row.run, this.#now)
    if (row === undefined || run === undefined || !isReadable(run)) throw erased()
    return row
  }

  /** Row of a run. Its counts and times may be old. */
  #standing(ref: RunRef, now: number): RunRow | undefined {
    this.#now = now
    const row = this.#knownOpen(ref)
    if (row !== undefined) return row
    const read = this.#read(() => this.#runs.find(ref, now))
    if (read?.state === 'open') this.#openRuns.keep(read)
    return read
  }

  /** Cached row of a run, if the run is still open. */
  #knownOpen(ref: RunRef): RunRow | undefined {
    const known = this.#openRuns.find(ref)
    const row = known && this.#runs.settled(known, this.#now)
    return row?.state === 'open' ? row : undefined
  }

  #readable(ref: RunRef): RunRow | undefined {
    const row = this.#knownOpen(ref) ?? this.#runs.find(ref, this.#now)
    return row !== undefined && isReadable(row) ? row : undefined
  }

  #read<Answer>(query: () => Answer): Answer {
    try {
      return this.#snapshot(query) as Answer
    } catch (error) {
      throw ledgerError(error)
    }
  }
}

/**
 * Throws `ledger_corrupt` when chunks of an existing result are missing or do not add up to its
 * value.
 */
function requireWhole(
  chunks: readonly Chunk[],
  { first, end }: Omit<ChunkRange, 'result'>,
  result: KeptRow,
): void {
  if (chunks.length < end - first) throw misplaced()
  const last = chunks.at(-1)
  const isEnd = end === result.key + result.chunks
  if (last !== undefined && isEnd && last.firstByte + last.bytes.length !== result.total_bytes) {
    throw misplaced()
  }
}

const erased = (): CoatcheckError =>
  new CoatcheckError('evicted', 'The value was erased: its run was evicted or purged.')

/** Whether a result matches the filters. */
const matches = (row: ResultRow, { toolName, outcome, kind }: ResultsStep): boolean =>
  (toolName === undefined || row.tool_name === toolName) &&
  (outcome === undefined || row.outcome === outcome) &&
  (kind === undefined || row.kind === kind)
