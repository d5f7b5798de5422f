/**
 * Interface of the ledger, the store of all results. Only the ledger survives a restart.
 *
 * These comments are the contract. `test/ledger/conformance.ts` checks every implementation against
 * it.
 *
 * - When a promise of `append` resolves, the result is on disk: it survives `kill -9`.
 * - Handles of a run are numbered 1, 2, … in the order of commit. A number is never given twice,
 *   not even after a restart, a purge, or when the name of a purged run is used again.
 * - A stored value is never overwritten.
 * - Every row belongs to a tenant and a run. No call can see rows of another tenant.
 * - Times are milliseconds since the epoch and come from the caller. A read without a time uses the
 *   last time that a call brought.
 * - Every method may throw `ledger_unavailable`, `ledger_corrupt` or `storage_full`. A failed call
 *   has changed nothing. The one exception: when the store itself ends, calls under way may have
 *   been carried out although they fail.
 */
import type { HintKind, ShownPlan } from '../core/content.ts'
import type { ValuePlan, ViewSource, ViewTotals } from '../core/view/view.ts'
import type { Page, ResultsQuery, RunsQuery } from './lists.ts'

/** Names a run. */
export interface RunRef {
  /** Empty in a service without tenants. */
  readonly tenant: string
  readonly run: string
}

/** Names of all formats. */
export const FORMATS = ['reference'] as const
/** Format of a run's previews, windows and notes. Fixed when the run opens. */
export type Format = (typeof FORMATS)[number]

/**
 * State of a run. A call makes it `ended`; an idle time longer than its TTL makes it `expired`.
 * Both keep their evidence until the retention, counted from that end, is over. The run is then
 * `evicted`, for as long as the retention once more; a sweep after that purges it. A purged run
 * has no state: it reads like a run that never existed, except that its numbering goes on.
 */
export type RunState = 'open' | 'ended' | 'expired' | 'evicted'

/** A run without the names of its tools, as lists return it. */
export interface RunSummary {
  readonly id: string
  readonly state: RunState
  readonly format: Format
  /** Idle seconds after which the run expires. */
  readonly ttlSeconds: number
  readonly verbatimLimitChars: number
  readonly createdAt: number
  readonly lastRequestAt: number
  readonly endedAt: number | null
  readonly results: number
  /** Bytes of all values of the run. */
  readonly keptBytes: number
  /**
   * Characters of the text views of all results: the size of a transcript that holds every value
   * whole.
   */
  readonly producedChars: number
  /** Characters of the contents that answered the puts. */
  readonly shownChars: number
  /** Number of registered tools. */
  readonly toolCount: number
  /** UTF-8 bytes of the names and schemas of all tools. */
  readonly toolBytes: number
}

/** A run with the names of its tools. */
export interface Run extends RunSummary {
  /** Sorted names of the registered tools; at most `maxToolsPerRun`. */
  readonly tools: readonly string[]
}

/**
 * The members of a run that every put needs: whether the run is open, and the settings that shape
 * contents.
 */
export type Standing = Pick<Run, 'id' | 'state' | 'ttlSeconds' | 'verbatimLimitChars'>

/**
 * Change of a run. An absent member stays as it is; null restores the default. `tools` is merged by
 * name; null removes a tool.
 */
export interface RunPatch {
  readonly ttlSeconds?: number | null | undefined
  readonly verbatimLimitChars?: number | null | undefined
  /** Refused with `format_fixed` when the run is open with another format. */
  readonly format?: Format | undefined
  /** Names of tools, each with its JSON Schema as bytes of UTF-8. */
  readonly tools?: ReadonlyMap<string, Buffer | null> | undefined
}

/** Outcome of a tool call. */
export type Outcome = 'output' | 'failure' | 'suspension'
/** Kind of a value. */
export type Kind = 'json' | 'text' | 'binary'

/** A result to be stored. */
export interface Put {
  /** Id of the tool call from the caller; empty without one. */
  readonly toolUseId: string
  readonly idempotencyKey: string | null
  readonly toolName: string | null
  readonly outcome: Outcome
  readonly kind: Kind
  readonly mediaType: string
  /**
   * When the value fills most of its `ArrayBuffer`, `append` takes the buffer over. The caller must
   * then not use any byte of that buffer again.
   */
  readonly value: Buffer
  /**
   * SHA-256 digest of `value` in hex. Null when the caller has none; the ledger then computes it.
   */
  readonly sha256: string | null
  readonly view: ViewSource
  readonly plan: ValuePlan
  /** Text of the preview without the handle at its start. */
  readonly preview: string
  readonly hint: HintKind
  /** Sizes from which the characters of the content are counted. */
  readonly shown: ShownPlan
  /**
   * Digest of a failure's tool and message. Repeats of a failure have the same digest. Null for
   * other outcomes.
   */
  readonly failureKey: string | null
  /**
   * `verbatimLimitChars` of the run when the put was planned. Stored, so that later reads render
   * the same content.
   */
  readonly verbatimLimitChars: number
}

/** A stored result. */
export interface Result {
  /** Internal key, unique in the ledger. Only `chunks` reads it. */
  readonly key: number
  /** Number of the handle, from 1. */
  readonly number: number
  readonly evidenceId: string
  /**
   * Name by which notes and hints recall it: the evidence id, or the handle when the id is long.
   */
  readonly recallName: string
  readonly toolUseId: string
  readonly toolName: string | null
  readonly outcome: Outcome
  readonly kind: Kind
  readonly mediaType: string
  readonly totalBytes: number
  /** Characters of the text view; null for a binary. */
  readonly totalChars: number | null
  /** Lines of the text view; null for a binary. */
  readonly totalLines: number | null
  /** Bytes of the text view; 0 for a binary. */
  readonly viewBytes: number
  readonly sha256: string
  readonly view: ViewSource
  readonly preview: string
  readonly hint: HintKind
  /** How often this failure has now occurred in a row; 1 for other outcomes. */
  readonly repeats: number
  readonly verbatimLimitChars: number
  readonly createdAt: number
}

/** A chunk of a value, with the counts before it; see `ChunkPlan` in `core/view/view.ts`. */
export interface Chunk {
  readonly firstByte: number
  readonly firstLine: number
  readonly firstCrlf: number
  readonly firstChar: number
  readonly state: number
  /** Shared with other readers: must not be changed or transferred to another thread. */
  readonly bytes: Buffer
}

/** A put that finishes an upload. Its value is in the ledger already. */
export type StreamedPut = Omit<Put, 'value' | 'plan' | 'sha256'> & {
  readonly sha256: string
  readonly totalBytes: number
  readonly totals: ViewTotals
}

/**
 * Names by which a retry is recognized, see {@link Ledger.append}. `totalBytes` is the size of the
 * value, when it is known beforehand.
 */
export type PutNames = Pick<Put, 'toolUseId' | 'idempotencyKey'> & {
  readonly totalBytes?: number | undefined
}

/**
 * A value that arrives in pieces. No read finds it until it is finished, and an unfinished one is
 * erased. Only one call may be pending at a time.
 */
export interface Upload {
  /**
   * Adds the next chunks, in order. Resolves when the writer has taken the chunks before them,
   * which gives backpressure. Buffers that fill their whole `ArrayBuffer` are taken over. Throws
   * `over_limit` (bytes of the run), `overloaded` and the errors of a put. After an error the value
   * is lost, its chunks are erased, and `finish` is refused.
   */
  add(chunks: readonly Chunk[]): Promise<void>
  /** Reads the chunks that were added so far, like `Ledger.chunks`. */
  chunks(seek: ChunkSeek): AsyncIterable<Chunk>
  /**
   * Turns the upload into a result, by the rules of `append`. When it is a retry, the earlier
   * result is returned and the added chunks are erased. Only this step is durable. A value of 0
   * bytes needs one chunk, too.
   */
  finish(put: StreamedPut, now: number): Promise<{ result: Result; retried: boolean }>
  /**
   * Erases everything that was added. May be called at any time, also after a failure. Does nothing
   * after `finish`.
   */
  abort(): Promise<void>
}

/**
 * Position from which chunks are read. `byte` (from 0): the chunk that holds this byte. `char`
 * (from 0): the chunk that holds this character of the text view. `line` (from 1): the last chunk
 * with fewer than `line - 1` line ends before it, so that the line starts in it or right after it.
 */
export type ChunkSeek =
  | { readonly byte: number }
  | { readonly char: number }
  | { readonly line: number }

/**
 * Names a result of a run. `number` is that of its handle. `recall` is an evidence id, or a handle
 * (`r3`, `$r3`) when no evidence id equals it. `idempotencyKey` is the key of its put.
 */
export type ResultQuery =
  | { readonly number: number }
  | { readonly recall: string }
  | { readonly idempotencyKey: string }

/** Number of a run's results, and bytes of their values. */
export interface RunCounts {
  readonly results: number
  readonly keptBytes: number
}

/**
 * State of the erasure of everything purged so far. `done`: no file of the ledger holds a byte of
 * it. `pending`: that is not reached yet.
 */
export type Erased = 'pending' | 'done'

/** Counts of an ended run. */
export interface EndCounts extends RunCounts {
  /** Null without a purge. */
  readonly erased: Erased | null
}

/** Number of puts that wait to be committed, and bytes of their values. */
export interface Queued {
  readonly puts: number
  readonly bytes: number
}

/** Counts over all runs whose evidence can be read. */
export interface Totals {
  readonly runs: Readonly<Record<'open' | 'ended' | 'expired', number>>
  readonly results: number
  /** Bytes of the values of these results. */
  readonly keptBytes: number
  /** Time when the oldest open run was opened; null without an open run. */
  readonly oldestOpenAt: number | null
  /** Time of the last request of any run; 0 in a ledger without runs. */
  readonly latestAt: number
}

/** Sizes on disk, in bytes. */
export interface DiskSizes {
  /** Bytes that this process may still write to the ledger's disk. */
  readonly freeDiskBytes: number
  readonly ledgerBytes: number
  readonly logBytes: number
}

/** Defaults and limits that a ledger enforces in its transactions. */
export interface LedgerPolicy {
  readonly defaultTtlSeconds: number
  readonly defaultVerbatimLimitChars: number
  readonly retentionSeconds: number
  /** Most runs of a tenant. Evicted and purged runs do not count. */
  readonly maxRuns: number
  readonly maxResultsPerRun: number
  readonly maxBytesPerRun: number
  /** Most evictions in a minute, over all tenants. Further runs wait for a later sweep. */
  readonly maxEvictionsPerMinute: number
  readonly maxToolsPerRun: number
  /** Most UTF-8 bytes of the names and schemas of a run's tools. */
  readonly maxToolBytesPerRun: number
}

/** The ledger, see the top of this file. */
export interface Ledger {
  /** Checks that the store answers. Throws when it does not. */
  ping(): Promise<void>

  /**
   * Opens a run, or changes an open one. Throws `ended`, `expired`, `evicted`, `format_fixed` and
   * `over_limit` (runs, tools).
   */
  openRun(ref: RunRef, patch: RunPatch, now: number): Promise<{ run: Run; created: boolean }>
  /**
   * Finds a run. Undefined when it never existed or was purged. A run that was idle for longer than
   * its TTL reads as `expired`, also before a sweep has noted it.
   */
  findRun(ref: RunRef, now: number): Promise<Run | undefined>
  /** The part of {@link findRun} that every put needs. Often answered from memory. */
  findStanding(ref: RunRef, now: number): Promise<Standing | undefined>
  /**
   * Returns a page of a tenant's runs, see {@link RunsQuery}. Throws `invalid_request` when `after`
   * is not the `next` of a page in this order.
   */
  listRuns(tenant: string, query: RunsQuery, now: number): Promise<Page<RunSummary>>
  /**
   * Ends a run. To end it twice is no error. A run that does not exist counts as zeros.
   *
   * With `purge`, the run cannot be read from the commit on. The promise resolves with `done` in
   * `erased` when all its rows and bytes are gone; other writes go on meanwhile. It resolves with
   * `pending` after some seconds, or when a reader in another process blocks the erasure. The bytes
   * then go later; another purge of the run tells when. When the promise rejects after the commit,
   * the run is purged all the same, and its bytes go with the next sweep or restart.
   */
  endRun(ref: RunRef, how: { readonly purge: boolean }, now: number): Promise<EndCounts>
  /** Finds the registered schema of a tool, as bytes of UTF-8. Undefined when there is none. */
  findTool(ref: RunRef, name: string): Promise<Buffer | undefined>
  /** Notes a request of an open run, which restarts its idle time. Written with the next commit. */
  touch(ref: RunRef, now: number): void

  /**
   * Stores a result. Opens the run when it does not exist.
   *
   * `retried` is true when the put repeats an earlier one; nothing is stored or counted then. With
   * an `idempotencyKey`, a put is a retry when the key is the same. Without one, it is a retry when
   * tool use id, outcome, kind and bytes are the same. A put without both is never a retry.
   *
   * The evidence id is the tool use id, or the handle without one. When that id is taken, it
   * becomes `<id>~2`, `<id>~3`, …. An id that reads as an existing handle (`r3`, `$r3`) counts as
   * taken. A suspension gives its id up to the next result of the same tool use id, and is renamed
   * `<id>~suspension` (or `<id>~suspension~2`, …).
   *
   * Throws `ended`, `expired`, `evicted` and `over_limit`. Throws `overloaded` when the queue of
   * puts is full.
   */
  append(ref: RunRef, put: Put, now: number): Promise<{ result: Result; retried: boolean }>
  /**
   * Throws `overloaded` when a put of `bytes` would be refused with it now. For callers that have
   * not read the value yet.
   */
  requireRoom(bytes: number): void
  /** Returns the size of the queue of puts. */
  queued(): Queued
  /** Asks the file system for sizes. Throws its errors. */
  diskSizes(): Promise<DiskSizes>
  /** Finds a result. Undefined when there is none, or the run cannot be read any more. */
  findResult(ref: RunRef, query: ResultQuery): Promise<Result | undefined>
  /**
   * Returns a page of a run's results, in the order of their handles. Throws `invalid_request` when
   * `after` is not the `next` of a page.
   */
  listResults(ref: RunRef, query: ResultsQuery): Promise<Page<Result>>
  /** Returns the numbers of the first results of a run, at most `limit`. */
  firstNumbers(ref: RunRef, limit: number): Promise<readonly number[]>
  /**
   * Reads the chunks of a value in order, from `seek` on, a few at a time. Throws `evicted` when
   * the value is erased meanwhile; a part is never passed off as the whole.
   */
  chunks(result: Result, seek: ChunkSeek): AsyncIterable<Chunk>

  /**
   * Begins an upload. `names` are those of the later `finish`: a value that may be a retry by them
   * is accepted in a full run.
   *
   * Throws the errors of `append` that are known before the value is, and `overloaded` when too
   * many uploads are under way. An upload without new chunks for some seconds gives way to another
   * one; its next call throws `overloaded`. When the run is purged meanwhile, the added chunks are
   * erased, and the upload throws `ended`.
   */
  openUpload(ref: RunRef, now: number, names?: PutNames): Promise<Upload>

  /**
   * Returns counts over all tenants. A run that has expired since the last sweep still counts as
   * open.
   */
  totals(): Promise<Totals>
  /**
   * Expires idle runs, evicts runs past their retention and purges those evicted for as long
   * again, some at a time. True when there is more to do. Times of a run that are more than a
   * minute in the future become `now`: a clock that was ahead and was set back has left them.
   */
  sweep(now: number): Promise<boolean>
  /** Commits the queued puts, writes the noted requests, and closes the store. */
  close(): Promise<void>
}
