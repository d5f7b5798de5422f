/**
 * The runs that a group of puts is for, as they are after those that are done: each is read once and written once, however
 * many puts it gets. For one transaction, in which nothing else changes runs.
 */
import type { RunRef } from '../ledger.ts'
import { nameOf, type RunRow } from './rows/run-state.ts'
import type { Runs } from './writer-thread/runs.ts'

export class RunGroup {
  readonly #runs: Runs
  readonly #rows = new Map<string, RunRow>()

  constructor(runs: Runs) {
    this.#runs = runs
  }

  /** As that of {@link Runs}. */
  requireOpenable(ref: RunRef, now: number): RunRow | undefined {
    return this.#runs.requireOpenable(ref, now, this.#rows.get(nameOf(ref)))
  }

  /** The run after a put at `now`. */
  set(ref: RunRef, row: RunRow, now: number): void {
    const last_request_at = Math.max(row.last_request_at, now)
    this.#rows.set(nameOf(ref), { ...row, last_request_at })
  }

  write(): void {
    for (const row of this.#rows.values()) this.#runs.count(row)
  }
}
