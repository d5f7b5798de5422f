/**
 * Takes away what nobody can see any more, a piece at a time, so that other writes go on in between: the rows of purged and
 * evicted runs and of uploads that were given up, and then their bytes out of the files (`scrubber.ts`), since a deleted row is
 * still in the log, and copies of it in pages. What is left to do is in the file itself, so that it goes on after a crash.
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

/** How many runs one sweep looks at. */
const SWEEP_RUNS = 500
const MINUTE_MS = 60_000
/** How much one piece erases, see `eraseCost`, and how many pages it moves: a few milliseconds of work, as a put waits for one. */
const PIECE_ROWS = 100
const PIECE_PAGES = 24

/**
 * After a piece: `erasing`, rows are left; `scrubbing`, none that anybody waits for, but their bytes; `scrubbed`, no bytes of
 * them either; `blocked`, a reader keeps the bytes in the log; `idle`, there was nothing to do.
 */
export type Progress = 'erasing' | 'scrubbing' | 'scrubbed' | 'blocked' | 'idle'

export class Eraser {
  readonly #db: Database.Database
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
  readonly #uploads: Uploads
  readonly #scrubber: Scrubber
  readonly #sql: ReturnType<typeof prepare>
  /** The last run that the sweep in progress has looked at. */
  #sweptKey = 0
  /** Since {@link #countedFrom}. */
  #evicted = 0
  /** Of the monotonic clock, in milliseconds. */
  #countedFrom = performance.now()
  readonly #maxEvictions: number
  #needsScrub: boolean
  /** Rows are not looked for until the files are clean: who waits must not wait for what comes later. */
  #isScrubbing = false
  /** The scrub under way began after the last row was erased. */
  #hasBegun = false
  /** Rows that somebody may wait for were erased: evictions, which may be many, come after their bytes. */
  #isAwaited = false

  /** The parts are of the same connection. */
  constructor(
    db: Database.Database,
    parts: {
      readonly reader: RunReader
      readonly runs: Runs
      readonly results: Results
      readonly uploads: Uploads
      readonly scrubber: Scrubber
      readonly maxEvictionsPerMinute: number
    },
  ) {
    this.#db = db
    this.#reader = parts.reader
    this.#runs = parts.runs
    this.#results = parts.results
    this.#uploads = parts.uploads
    this.#scrubber = parts.scrubber
    this.#sql = prepare(db)
    // what a process that ended has left
    this.#needsScrub = this.#sql.isOwed.get() !== undefined || this.#freePages() > 0
    this.#maxEvictions = parts.maxEvictionsPerMinute
  }

  /** Within a transaction; true when there are more runs to look at. */
  sweep(now: number): boolean {
    const rows = this.#reader.scan(this.#sweptKey, SWEEP_RUNS, now)
    for (const row of rows) this.#sweepRun(row, now)
    const last = rows.length < SWEEP_RUNS ? undefined : rows.at(-1)
    this.#sweptKey = last?.key ?? 0
    return last !== undefined
  }

  /** Evicts no more than some each minute of time that really passes: a clock that is wrong for long can still be set right. */
  #sweepRun(row: RunRow, now: number): void {
    const latestAt = Math.max(row.last_request_at, row.created_at, row.ended_at ?? 0)
    if (latestAt > now + CLOCK_TOLERANCE_MS) this.#runs.notLater(row, now)
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

  /** The next piece. `write` runs its work as a transaction. */
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

  /** What a reader blocks is left for later. */
  postpone(): void {
    this.#isScrubbing = false
  }

  #hasRows(): boolean {
    return this.#uploads.toErase() !== undefined || this.#reader.toErase() !== undefined
  }

  /** True when there are more to erase before the files. */
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
    // one for the run, so that many without results end a piece as well
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
