/**
 * The ledger: where results are kept, and the only thing here that survives a restart. These comments are the contract;
 * `test/ledger/conformance.ts` holds every implementation to it.
 *
 * - A promise of `append` that has resolved is on disk: it survives `kill -9`.
 * - Within a run, handles are numbered 1, 2, … in the order of commit and never given twice, also across restarts,
 *   purges and re-opened names.
 * - Nothing that was kept is ever overwritten.
 * - Everything is under (tenant, run): no call can see another tenant's rows.
 * - Times are milliseconds since the epoch and come from the caller; a read that is told none takes the last one told.
 *   Every method may throw `ledger_unavailable`,
 *   `ledger_corrupt` or `storage_full`; a failed call has changed nothing.
 *   But of the calls that are under way when the store itself goes, some may have been done: their answer is lost.
 */
import type { HintKind, ShownPlan } from '../core/content.ts'
import type { ValuePlan, ViewSource, ViewTotals } from '../core/view/view.ts'
import type { Page, ResultsQuery, RunsQuery } from './lists.ts'

export interface RunRef {
  /** Empty for the only tenant of a service without tenants. */
  readonly tenant: string
  readonly run: string
}

export const FORMATS = ['reference'] as const
/** How previews and windows of a run are written; fixed when the run opens. */
export type Format = (typeof FORMATS)[number]

/**
 * `open`; `ended` by a call; `expired` by idling past its TTL. Both keep their evidence until retention ends, counted from
 * the end; then it is `evicted`. A purged run is as one that never was, but for its numbering.
 */
export type RunState = 'open' | 'ended' | 'expired' | 'evicted'

/** A run as a list shows it. */
export interface RunSummary {
  readonly id: string
  readonly state: RunState
  readonly format: Format
  /** Idle time after which it expires. */
  readonly ttlSeconds: number
  readonly verbatimLimitChars: number
  readonly createdAt: number
  readonly lastRequestAt: number
  readonly endedAt: number | null
  readonly results: number
  /** Bytes of all its values. */
  readonly keptBytes: number
  /** Characters of the text views of its results: what a transcript without coatcheck would carry. */
  readonly producedChars: number
  /** Characters of the contents that its puts answered. */
  readonly shownChars: number
  /** How many tools it has registered. */
  readonly toolCount: number
  /** UTF-8 bytes of the names and schemas of its tools. */
  readonly toolBytes: number
}

export interface Run extends RunSummary {
  /** Names of its registered tools, sorted; at most as many as the policy lets a run have. */
  readonly tools: readonly string[]
}

/** How a run stands: whether it takes puts, and how they are shown. */
export type Standing = Pick<Run, 'id' | 'state' | 'ttlSeconds' | 'verbatimLimitChars'>

/** What to change: absent, nothing; null, back to the default. `tools` merges by name; null removes one. */
export interface RunPatch {
  readonly ttlSeconds?: number | null | undefined
  readonly verbatimLimitChars?: number | null | undefined
  /** Refused with `format_fixed` when the run is open with another. */
  readonly format?: Format | undefined
  /** JSON Schemas as bytes. */
  readonly tools?: ReadonlyMap<string, Buffer | null> | undefined
}

export type Outcome = 'output' | 'failure' | 'suspension'
export type Kind = 'json' | 'text' | 'binary'

/** A result to keep. */
export interface Put {
  /** As the caller gave it; empty when it gave none. */
  readonly toolUseId: string
  readonly idempotencyKey: string | null
  readonly toolName: string | null
  readonly outcome: Outcome
  readonly kind: Kind
  readonly mediaType: string
  /** Taken over by `append` where it is most of its memory, all of which is not to be used again. */
  readonly value: Buffer
  /** Hex digest of `value` where the caller has it already; null: the ledger takes it. */
  readonly sha256: string | null
  readonly view: ViewSource
  readonly plan: ValuePlan
  /** The preview after its handle. */
  readonly preview: string
  readonly hint: HintKind
  /** What the content shows, to be counted. */
  readonly shown: ShownPlan
  /** Digest of tool and message of a failure, by which repeats are told; null for other outcomes. */
  readonly failureKey: string | null
  /** The run's limit when it was planned; kept, so that later reads render the same. */
  readonly verbatimLimitChars: number
}

/** A result as kept. */
export interface Result {
  /** The ledger's own key; for `chunks` only. */
  readonly key: number
  readonly number: number
  readonly evidenceId: string
  /** What notes call it in a recall. */
  readonly recallName: string
  readonly toolUseId: string
  readonly toolName: string | null
  readonly outcome: Outcome
  readonly kind: Kind
  readonly mediaType: string
  readonly totalBytes: number
  /** Of the text view; null for a binary. */
  readonly totalChars: number | null
  readonly totalLines: number | null
  readonly viewBytes: number
  readonly sha256: string
  readonly view: ViewSource
  readonly preview: string
  readonly hint: HintKind
  readonly repeats: number
  readonly verbatimLimitChars: number
  readonly createdAt: number
}

/** A row of a value, see `core/view.ts`. */
export interface Chunk {
  readonly firstByte: number
  readonly firstLine: number
  readonly firstCrlf: number
  readonly firstChar: number
  readonly state: number
  /** Not to be changed, nor handed to another thread: other readers may have the same. */
  readonly bytes: Buffer
}

/** What an upload becomes: a put whose value the ledger has already. */
export type StreamedPut = Omit<Put, 'value' | 'plan' | 'sha256'> & {
  readonly sha256: string
  readonly totalBytes: number
  readonly totals: ViewTotals
}

/** What a retry is known by, see {@link Ledger.append}; and how long its value is to be, where that is known. */
export type PutNames = Pick<Put, 'toolUseId' | 'idempotencyKey'> & {
  readonly totalBytes?: number | undefined
}

/** A value on its way in pieces; invisible until it is finished, and gone when it is not. One call at a time. */
export interface Upload {
  /**
   * Keeps the next chunks, in order. Resolves when the writer has them: to await it is the backpressure. Buffers that are the
   * whole of their memory are taken over. Throws `over_limit` (bytes of the run), `overloaded`, …: the value is then lost,
   * what was added is erased, and `finish` is refused.
   */
  add(chunks: readonly Chunk[]): Promise<void>
  /** What was added so far, as `Ledger.chunks`. */
  chunks(seek: ChunkSeek): AsyncIterable<Chunk>
  /**
   * Makes it a result, as `append` does, by the same rules; a retry that is found takes the place of what was added, which is
   * erased. The only durable step. A value without bytes has one chunk, too.
   */
  finish(put: StreamedPut, now: number): Promise<{ result: Result; retried: boolean }>
  /** Leaves nothing behind. At any time, also after a failure; after `finish` it does nothing. */
  abort(): Promise<void>
}

/**
 * From which chunk to read: the one that holds a byte; the one that holds a char of the view; the last one with fewer than
 * `line - 1` line ends before it, so that the 1-based line starts in it or right after it.
 */
export type ChunkSeek =
  | { readonly byte: number }
  | { readonly char: number }
  | { readonly line: number }

/**
 * How a result is asked for. `recall` is an evidence id or, where no evidence id equals it, a handle (`r3`, `$r3`). A key is the
 * one that its put came with.
 */
export type ResultQuery =
  | { readonly number: number }
  | { readonly recall: string }
  | { readonly idempotencyKey: string }

export interface RunCounts {
  readonly results: number
  readonly keptBytes: number
}

/** Of all that was purged up to then: `done` when its bytes are in no file of the ledger, `pending` before. */
export type Erased = 'pending' | 'done'

export interface EndCounts extends RunCounts {
  /** Null unless it was asked to purge. */
  readonly erased: Erased | null
}

/** Puts that wait to be committed, and the bytes of their values. */
export interface Queued {
  readonly puts: number
  readonly bytes: number
}

/** Counts over all runs that can be read. */
export interface Totals {
  readonly runs: Readonly<Record<'open' | 'ended' | 'expired', number>>
  readonly results: number
  /** Bytes of their values. */
  readonly keptBytes: number
  /** When the oldest open run was opened; null without one. */
  readonly oldestOpenAt: number | null
  /** The last request of any run; 0 without one. */
  readonly latestAt: number
}

/** Sizes on disk, in bytes. */
export interface DiskSizes {
  /** What this process may still write to the ledger's disk. */
  readonly freeDiskBytes: number
  readonly ledgerBytes: number
  readonly logBytes: number
}

/** What a ledger enforces, in its own transactions. */
export interface LedgerPolicy {
  readonly defaultTtlSeconds: number
  readonly defaultVerbatimLimitChars: number
  readonly retentionSeconds: number
  /** Of a tenant; evicted and purged ones do not count. */
  readonly maxRuns: number
  readonly maxResultsPerRun: number
  readonly maxBytesPerRun: number
  /** Of all tenants; the others wait for a later sweep. */
  readonly maxEvictionsPerMinute: number
  readonly maxToolsPerRun: number
  /** Of the names and schemas of a run's tools. */
  readonly maxToolBytesPerRun: number
}

export interface Ledger {
  /** Asks the store for real; throws when it does not answer. */
  ping(): Promise<void>

  /** Opens a run or changes an open one. Throws `ended`, `expired`, `evicted`, `format_fixed`, `over_limit` (runs, tools). */
  openRun(ref: RunRef, patch: RunPatch, now: number): Promise<{ run: Run; created: boolean }>
  /** Undefined when it never was, or was purged. Applies the idle time: a run past it reads as `expired`. */
  findRun(ref: RunRef, now: number): Promise<Run | undefined>
  /** The little of {@link findRun} that every put asks for; cheap. */
  findStanding(ref: RunRef, now: number): Promise<Standing | undefined>
  /**
   * A page of the runs of a tenant, see {@link RunsQuery}. Throws `invalid_request` for an `after` that is no page's `next` in
   * this order.
   */
  listRuns(tenant: string, query: RunsQuery, now: number): Promise<Page<RunSummary>>
  /**
   * Ends a run; with `purge`, it can be read no more from the commit on, and the promise resolves when all its rows and bytes
   * are gone (`erased: 'done'`), while other writes go on. After some seconds, and where a reader of another process is in the
   * way, it resolves with `pending`: its bytes go later, and to purge the run again tells when. Rejected, it is purged all the same,
   * and its bytes go with the next sweep or restart. Zeros for a run that is not there; ending twice is no error.
   */
  endRun(ref: RunRef, how: { readonly purge: boolean }, now: number): Promise<EndCounts>
  /** The registered schema of a tool. */
  findTool(ref: RunRef, name: string): Promise<Buffer | undefined>
  /** Notes a request of the run, from which its idle time counts; kept with the next commit. */
  touch(ref: RunRef, now: number): void

  /**
   * Keeps a result, opening the run if need be. `retried`: it was there already and nothing was counted: same tool use id
   * with same outcome, kind and bytes, or, when `idempotencyKey` is given, same key. An empty id is never the same.
   * Draws the evidence id: the tool use id, or the handle without one; when that is taken, `<id>~2`, `~3`, …. An id that
   * names an existing handle (`r3`, `$r3`) is taken. A result under the id of a suspension takes the id, and the
   * suspension moves to `<id>~suspension` (or `…~suspension~2`). Throws `ended`, `expired`, `evicted`, `over_limit`, and
   * `overloaded` when more waits to be committed than may.
   */
  append(ref: RunRef, put: Put, now: number): Promise<{ result: Result; retried: boolean }>
  /** Throws `overloaded` when a put of so many bytes would be refused with it now; for whoever has yet to read them. */
  requireRoom(bytes: number): void
  queued(): Queued
  /** Asks the file system; throws what it throws. */
  diskSizes(): Promise<DiskSizes>
  findResult(ref: RunRef, query: ResultQuery): Promise<Result | undefined>
  /**
   * A page of the results of a run, in the order of their handles. Throws `invalid_request` for an `after` that is no page's
   * `next`.
   */
  listResults(ref: RunRef, query: ResultsQuery): Promise<Page<Result>>
  /** The numbers of the first results of a run, at most `limit`. */
  firstNumbers(ref: RunRef, limit: number): Promise<readonly number[]>
  /**
   * The chunks of a value in order, from where `seek` says; read a few at a time as they are asked for. Throws `evicted`
   * when the value was erased since, never a part as if it were all.
   */
  chunks(result: Result, seek: ChunkSeek): AsyncIterable<Chunk>

  /**
   * Begins a value that arrives in pieces. Throws as `append` would, as far as that is known, and `overloaded` when too many
   * are under way; one that nothing came of for some seconds makes room, and is `overloaded` when it goes on. `names`: those
   * that it will be finished with; what may be a retry by them has room in a full run. When the run is purged meanwhile, what
   * was added goes with it, and the upload throws `ended`.
   */
  openUpload(ref: RunRef, now: number, names?: PutNames): Promise<Upload>

  /** Of all tenants, as the last sweep has left them. */
  totals(): Promise<Totals>
  /**
   * Expires idle runs and evicts those past retention, some at a time; true when there is more to do. Times of runs that lie in
   * the future, which a clock that went back has left, become `now`.
   */
  sweep(now: number): Promise<boolean>
  /** Commits what is queued, writes what is noted, frees the file. */
  close(): Promise<void>
}
