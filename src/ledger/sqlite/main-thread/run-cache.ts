/**
 * Cache of the rows of open runs, so that most requests of a run do not read it again.
 *
 * A row is used only while its run can have changed by requests and results alone. Neither ends a
 * run, changes its limits or makes it expire sooner. Every other write must therefore run within
 * {@link OpenRuns.during}.
 */
import type { RunRef } from '../../ledger.ts'
import { nameOf, type RunRow } from '../rows/run-state.ts'

/** About 1 MB of rows. */
const MOST_RUNS = 1_000

/** Rows of open runs by tenant and run id. */
export class OpenRuns {
  readonly #rows = new Map<string, RunRow>()
  #changes = 0

  /**
   * Returns the cached row of a run. Its counts and times are those of the moment when it was read.
   */
  find(ref: RunRef): RunRow | undefined {
    return this.#changes === 0 ? this.#rows.get(nameOf(ref)) : undefined
  }

  /** Caches a row that was just read. */
  keep(row: RunRow): void {
    if (this.#changes > 0) return
    if (this.#rows.size >= MOST_RUNS) this.#rows.clear()
    this.#rows.set(nameOf(row), row)
  }

  /** Runs `change`. No row is used meanwhile, and no earlier one after it. */
  async during<Answer>(change: () => Promise<Answer>): Promise<Answer> {
    this.#changes++
    this.#rows.clear()
    try {
      return await change()
    } finally {
      this.#changes--
    }
  }
}
