/**
 * What reads: synchronous calls on a connection that cannot write. Each sees what was committed when it was made, and nothing
 * in between. Answers are plain values.
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

/** Results that one step of a list looks at, and UTF-16 units of their previews: some milliseconds of work. */
const STEP_RESULTS = 2_000
const STEP_PREVIEW_UNITS = 4_194_304

/** Filters of a list, and the number that it goes on behind. */
export type ResultsStep = Pick<ResultsQuery, 'toolUseId' | 'toolName' | 'outcome' | 'kind'> & {
  readonly after: number
}

/** The chunk that was sought, and the range of those after it. */
export interface FoundChunk {
  /** Empty when there is none. */
  readonly chunks: readonly Chunk[]
  readonly rest: ChunkRange
}

/** Chunks of a value as keys to read; half-open. */
export interface ChunkRange {
  /** The key of their result; null when it is yet to come. */
  readonly result: number | null
  readonly first: number
  readonly end: number
}

export class Reader {
  readonly #db: Database.Database
  readonly #runs: RunReader
  readonly #results: ResultReader
  readonly #chunks: ChunkReader
  readonly #cache: ChunkCache
  readonly #openRuns = new OpenRuns()
  readonly #snapshot: Database.Transaction<(query: () => unknown) => unknown>
  /** The last time that a caller told, for the reads that are told none. */
  #now = 0

  /** Takes the connection over. */
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

  /** Notes the time that a caller told. */
  tell(now: number): void {
    this.#now = now
  }

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

  /** The first settled rows of a range of ids, purged ones included; the last ones first with `desc`. */
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

  /** The key of a run that is open. */
  findOpenKey(ref: RunRef, now: number): number | undefined {
    const row = this.#standing(ref, now)
    return row?.state === 'open' ? row.key : undefined
  }

  /** Has every run read again that is asked for during `change` and after it. */
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
   * Hands the results that follow to `add`, in their order, until it returns false. Returns the number up to which results were
   * looked at; undefined when the list is at its end, or `add` has enough.
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
      // the row at hand may be of before the latest puts
      const numbered = this.#runs.findByKey(run.key, this.#now) ?? run
      for (const row of this.#results.list(range, toolUseId, numbered)) {
        if (matches(row, query) && !add(toResult(row))) return undefined
        units += row.preview.length
        if (units > STEP_PREVIEW_UNITS) return row.number
      }
      return end
    })
  }

  /** Throws `ledger_corrupt` when the run has given the number: its result was not found. */
  #requireNotGiven(run: number, number: number): void {
    // the row at hand may be of before the latest puts
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

  /** Throws `evicted` when the value is not there any more, and `ledger_corrupt`. */
  findChunk({ key }: Result, seek: ChunkSeek): FoundChunk {
    return this.#read(() => {
      const row = this.#kept(key)
      const first = key + this.#chunks.find(row, seek)
      const rest = { result: key, first: first + 1, end: key + row.chunks }
      return { chunks: this.#keptChunks(row, first, rest.first), rest }
    })
  }

  /** The same of what an upload has so far. */
  findStaged({ key, chunks }: ChunkKeys, seek: ChunkSeek): FoundChunk {
    return this.#read(() => {
      const first = key + this.#chunks.seek(key, seek)
      const end = key + chunks
      const next = Math.min(first + 1, end)
      return { chunks: this.#stagedChunks(first, next), rest: { result: null, first: next, end } }
    })
  }

  /** All of the range, or `evicted`: never a part without saying so. Throws `ledger_corrupt`. */
  readChunks({ result, first, end }: ChunkRange): readonly Chunk[] {
    return this.#read(() =>
      result === null
        ? this.#stagedChunks(first, end)
        : this.#keptChunks(this.#kept(result), first, end),
    )
  }

  /** After rows were erased. */
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

  /** The row of a result while its value may be read. */
  #kept(key: number): KeptRow {
    const row = this.#results.kept(key)
    const run = row && this.#runs.findByKey(row.run, this.#now)
    if (row === undefined || run === undefined || !isReadable(run)) throw erased()
    return row
  }

  /** The row of a run, but for its counts and times. */
  #standing(ref: RunRef, now: number): RunRow | undefined {
    this.#now = now
    const row = this.#knownOpen(ref)
    if (row !== undefined) return row
    const read = this.#read(() => this.#runs.find(ref, now))
    if (read?.state === 'open') this.#openRuns.keep(read)
    return read
  }

  /** The row of a run that was read before and is open still. */
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

/** Throws `ledger_corrupt` when chunks of a result that is there are not, or are not all of it. */
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

/** Whether a result is one of those that are asked for. */
const matches = (row: ResultRow, { toolName, outcome, kind }: ResultsStep): boolean =>
  (toolName === undefined || row.tool_name === toolName) &&
  (outcome === undefined || row.outcome === outcome) &&
  (kind === undefined || row.kind === kind)
