/**
 * Rows of open runs as they were read last, so that most requests of a run do not read it again. A row is used only while
 * nothing but requests and results can have come to its run since: neither ends a run, changes its limits, nor lets it expire
 * sooner. So whoever may change more says so for as long as it takes.
 */
import type { RunRef } from '../../ledger.ts'
import { nameOf, type RunRow } from '../rows/run-state.ts'

/** About a megabyte. */
const MOST_RUNS = 1_000

export class OpenRuns {
  readonly #rows = new Map<string, RunRow>()
  #changes = 0

  /** The counts and times of a row are those of when it was read. */
  find(ref: RunRef): RunRow | undefined {
    return this.#changes === 0 ? this.#rows.get(nameOf(ref)) : undefined
  }

  /** As read now. */
  keep(row: RunRow): void {
    if (this.#changes > 0) return
    if (this.#rows.size >= MOST_RUNS) this.#rows.clear()
    this.#rows.set(nameOf(row), row)
  }

  /** While `change` is under way no row is used, and after it none of before. */
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
