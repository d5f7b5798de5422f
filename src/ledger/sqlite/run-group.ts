/**
 * Runs of a group of puts in one transaction. Each run is read once and written once, however many
 * puts it gets. Nothing else may change runs during that transaction.
 */
import type { RunRef } from '../ledger.ts'
import { nameOf, type RunRow } from './rows/run-state.ts'
import type { Runs } from './writer-thread/runs.ts'

/** Rows of the runs of one group of puts. */
export class RunGroup {
  readonly #runs: Runs
  readonly #rows = new Map<string, RunRow>()

  constructor(runs: Runs) {
    this.#runs = runs
  }

  /** Like `requireOpenable` of {@link Runs}, after the puts of this group so far. */
  requireOpenable(ref: RunRef, now: number): RunRow | undefined {
    return this.#runs.requireOpenable(ref, now, this.#rows.get(nameOf(ref)))
  }

  /** Notes the row of a run after a put at `now`. */
  set(ref: RunRef, row: RunRow, now: number): void {
    const last_request_at = Math.max(row.last_request_at, now)
    this.#rows.set(nameOf(ref), { ...row, last_request_at })
  }

  /** Writes all noted rows. */
  write(): void {
    for (const row of this.#rows.values()) this.#runs.count(row)
  }
}
