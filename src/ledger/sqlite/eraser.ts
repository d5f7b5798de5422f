/**
 * Takes results away: at once for a purge, some at a time for runs past their retention; then their bytes out of the files,
 * since a deleted row is still in the log, and freed pages still in the file.
 */
import type Database from 'better-sqlite3'
import type { Results } from './results.ts'
import type { RunReader } from './run-reader.ts'
import type { RunRow } from './run-state.ts'
import type { Runs } from './runs.ts'

/** What one sweep looks at, and how many rows it erases: some tens of milliseconds of work. */
const SWEEP_RUNS = 500
const SWEEP_ROWS = 1_000

export class Eraser {
  readonly #db: Database.Database
  readonly #reader: RunReader
  readonly #runs: Runs
  readonly #results: Results
  /** The last run that the sweep in progress has looked at. */
  #sweptKey = 0
  /** Also at the start: a killed process may have left some. */
  #needsScrub = true

  /** The parts are of the same connection. */
  constructor(
    db: Database.Database,
    parts: { readonly reader: RunReader; readonly runs: Runs; readonly results: Results },
  ) {
    this.#db = db
    this.#reader = parts.reader
    this.#runs = parts.runs
    this.#results = parts.results
  }

  /** Within a transaction; `scrub` when it is committed. */
  purge(row: RunRow): void {
    this.#results.erase(row.key, Number.POSITIVE_INFINITY)
    this.#runs.purge(row)
    this.#needsScrub = true
  }

  /** Within a transaction; true when there are more runs to look at or rows to erase. */
  sweep(now: number): boolean {
    const rows = this.#reader.scan(this.#sweptKey, SWEEP_RUNS, now)
    for (const row of rows) this.#runs.settle(row)
    this.#eraseEvicting()
    const last = rows.length < SWEEP_RUNS ? undefined : rows.at(-1)
    this.#sweptKey = last?.key ?? 0
    return last !== undefined || this.#reader.firstEvicting() !== undefined
  }

  /** Outside any transaction. A reader can hold it up; then it is still to do. */
  scrub(): void {
    if (!this.#needsScrub) return
    this.#db.exec('PRAGMA incremental_vacuum')
    const [answer] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }]
    this.#needsScrub = answer.busy > 0
  }

  #eraseEvicting(): void {
    let left = SWEEP_ROWS
    while (left > 0) {
      const row = this.#reader.firstEvicting()
      if (row === undefined) return
      this.#needsScrub = true
      // one for the run, so that many without results end a sweep as well
      left = this.#results.erase(row.key, left) - 1
      if (left >= 0) this.#runs.evicted(row)
    }
  }
}
