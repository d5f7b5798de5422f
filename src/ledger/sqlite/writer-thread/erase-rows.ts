/**
 * Erases what no caller can see any more, a piece at a time, so that other writes go on in between.
 * First the rows of purged and evicted runs and of abandoned uploads, then their bytes in the files
 * (`scrubber.ts`): a deleted row is still in the log, and copies of it are in pages. The work that
 * is left is recorded in the file itself, so it goes on after a crash.
 */
import type Database from 'better-sqlite3'
import { CLOCK_TOLERANCE_MS } from '../../clock.ts'
import type { RunReader } from '../rows/run-reader.ts'
import type { RunRow } from '../rows/run-state.ts'
import type { RunToErase } from '../rows/run-statements.ts'
import type { Results } from './results.ts'
import type { Runs } from './runs.ts'
import type { Scrubber } from './scrubber.ts'
import type { Uploads } from './uploads.ts'

/** Number of runs that one sweep examines. */
const SWEEP_RUNS = 500
const MINUTE_MS = 60_000
/**
 * Size of one piece: cost of the erased rows (see `eraseCost`), and pages that are moved. It takes
 * a few milliseconds, since a put may wait for it.
 */
const PIECE_ROWS = 100
const PIECE_PAGES = 24

/**
 * State after a piece. `erasing`: rows are left. `scrubbing`: no rows are left that a caller waits
 * for, but their bytes are. `scrubbed`: their bytes are gone too. `blocked`: a reader keeps the
 * bytes in the log. `idle`: there was nothing to do.
 */
export type Progress = 'erasing' | 'scrubbing' | 'scrubbed' | 'blocked' | 'idle'

/** Erases rows and their bytes, and evicts runs past their retention. */
export class Eraser {
  readonly #db: Database.Database
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
  readonly #uploads: Uploads
  readonly #scrubber: Scrubber
  readonly #erased: () => void
  readonly #sql: ReturnType<typeof prepare>
  /** Key of the last run that the sweep in progress has examined. */
  #sweptKey = 0
  /** Evictions since {@link #countedFrom}. */
  #evicted = 0
  /** Time of the monotonic clock, in milliseconds. */
  #countedFrom = performance.now()
  readonly #maxEvictions: number
  #needsScrub: boolean
  /**
   * True from the first step of a scrub to its end. No rows are erased meanwhile: a caller must not
   * wait for later work.
   */
  #isScrubbing = false
  /** True when the scrub under way began after the last row was erased. */
  #hasBegun = false
  /**
   * True when rows were erased that a caller may wait for. Evictions, which may be many, then come
   * after the scrub.
   */
  #isAwaited = false

  /** All parts use the same connection. */
  constructor(
    db: Database.Database,
    parts: {
      readonly reader: RunReader
      readonly runs: Runs
      readonly results: Results
      readonly uploads: Uploads
      readonly scrubber: Scrubber
      /** Called when the files are clean, before anything else is written. */
      readonly erased: () => void
      readonly maxEvictionsPerMinute: number
    },
  ) {
    this.#db = db
    this.#reader = parts.reader
    this.#runs = parts.runs
    this.#results = parts.results
    this.#uploads = parts.uploads
    this.#scrubber = parts.scrubber
    this.#erased = parts.erased
    this.#sql = prepare(db)
    // Work that an earlier process left.
    this.#needsScrub = this.#sql.isOwed.get() !== undefined || this.#freePages() > 0
    this.#maxEvictions = parts.maxEvictionsPerMinute
  }

  /** Settles some runs, within a transaction. True when there are more runs to examine. */
  sweep(now: number): boolean {
    const rows = this.#reader.scan(this.#sweptKey, SWEEP_RUNS, now)
    for (const row of rows) this.#sweepRun(row, now)
    const last = rows.length < SWEEP_RUNS ? undefined : rows.at(-1)
    this.#sweptKey = last?.key ?? 0
    return last !== undefined
  }

  /**
   * Evicts a limited number of runs in each minute of the monotonic clock, so that a wrong clock
   * can be corrected before all is evicted.
   */
  #sweepRun(row: RunRow, now: number): void {
    const latestAt = Math.max(row.last_request_at, row.created_at, row.ended_at ?? 0)
    if (latestAt > now + CLOCK_TOLERANCE_MS) this.#runs.notLater(row, now)
    if (row.state === 'evicted') {
      this.#runs.forget(row, now)
      return
    }
    if (row.state === 'evicting') {
      if (!this.#mayEvict()) return
      this.#evicted++
    }
    this.#runs.settle(row)
  }

  #mayEvict(): boolean {
    const now = performance.now()
    if (now - this.#countedFrom >= MINUTE_MS) {
      this.#countedFrom = now
      this.#evicted = 0
    }
    return this.#evicted < this.#maxEvictions
  }

  /** Erases the next piece. `write` runs its argument as a transaction. */
  step(write: (work: () => boolean) => boolean): Progress {
    if (!this.#isScrubbing) {
      if (this.#hasRows()) {
        this.#needsScrub = true
        this.#hasBegun = false
        if (write(() => this.#eraseRows())) return 'erasing'
      } else if (!this.#needsScrub) return 'idle'
      this.#isScrubbing = true
    }
    return this.#scrub(write)
  }

  /** Leaves a blocked scrub for later. */
  postpone(): void {
    this.#isScrubbing = false
  }

  #hasRows(): boolean {
    return this.#uploads.toErase() !== undefined || this.#reader.toErase() !== undefined
  }

  /** Erases some rows. True when more are to be erased before the scrub. */
  #eraseRows(): boolean {
    this.#sql.owe.run()
    let left = PIECE_ROWS
    while (left > 0) {
      const upload = this.#uploads.toErase()
      const run = this.#reader.toErase()
      if (upload !== undefined) left = this.#uploads.erase(upload, left)
      else if (run === undefined) return false
      else if (run.state === 'evicting' && this.#isAwaited) return false
      else left = this.#eraseRun(run, left)
      this.#isAwaited ||= upload !== undefined || run?.state === 'purging'
    }
    return true
  }

  #eraseRun(run: RunToErase, budget: number): number {
    // The run itself costs one, so that a piece also ends after many runs without results.
    const left = this.#results.erase(run.key, budget) - 1
    if (left >= 0) this.#runs.erased(run)
    return left
  }

  #scrub(write: (work: () => boolean) => boolean): Progress {
    if (this.#freePages() > 0) {
      this.#db.exec(`PRAGMA incremental_vacuum(${PIECE_PAGES})`)
      this.#scrubber.noteCommit()
      return 'scrubbing'
    }
    if (!this.#hasBegun) this.#scrubber.begin()
    this.#hasBegun = true
    const progress = this.#scrubber.step()
    if (progress !== 'done') return progress === 'more' ? 'scrubbing' : progress
    this.#erased()
    write(() => this.#sql.settle.run().changes > 0)
    this.#needsScrub = false
    this.#isScrubbing = false
    this.#isAwaited = false
    return 'scrubbed'
  }

  #freePages(): number {
    return this.#db.pragma('freelist_count', { simple: true }) as number
  }
}

function prepare(db: Database.Database) {
  return {
    isOwed: db.prepare('SELECT 1 FROM scrubs'),
    owe: db.prepare('INSERT OR IGNORE INTO scrubs (key) VALUES (1)'),
    settle: db.prepare('DELETE FROM scrubs'),
  }
}
