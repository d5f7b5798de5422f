/**
 * The order of writes. What is asked for in one turn of the event loop is done at its end, in order; appends next to each
 * other share one transaction, and are answered when it is committed. No timer: under load, the turns grow by themselves.
 */
import type { Put, Result, RunRef } from '../ledger.ts'

export interface Append {
  readonly ref: RunRef
  readonly put: Put
  readonly now: number
}

export interface Appended {
  readonly result: Result
  readonly retried: boolean
}

export type AppendOutcome = Appended | { readonly refusal: unknown }

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (reason: unknown) => void
}

interface AppendEntry {
  readonly append: Append
  readonly waiting: Waiting<Appended>
}

type Entry = AppendEntry | { readonly run: () => void }

export class WriteQueue {
  readonly #commit: (appends: readonly Append[]) => readonly AppendOutcome[]
  #entries: Entry[] = []

  /** `commit` keeps all or throws, with an outcome for each. */
  constructor(commit: (appends: readonly Append[]) => readonly AppendOutcome[]) {
    this.#commit = commit
  }

  append(append: Append): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#add({ append, waiting: { resolve, reject } })
    })
  }

  /** Any other write: `work` is a transaction of its own. */
  run<Answer>(work: () => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const run = (): void => {
        try {
          resolve(work())
        } catch (error) {
          reject(error)
        }
      }
      this.#add({ run })
    })
  }

  /** Does now what is waiting. */
  drain(): void {
    const entries = this.#entries
    this.#entries = []
    let group: AppendEntry[] = []
    for (const entry of entries) {
      if ('append' in entry) group.push(entry)
      else {
        this.#settle(group)
        group = []
        entry.run()
      }
    }
    this.#settle(group)
  }

  #add(entry: Entry): void {
    if (this.#entries.length === 0) setImmediate(() => this.drain())
    this.#entries.push(entry)
  }

  #settle(group: readonly AppendEntry[]): void {
    if (group.length === 0) return
    try {
      const outcomes = this.#commit(group.map(({ append }) => append))
      for (const [index, { waiting }] of group.entries()) {
        const outcome = outcomes[index] as AppendOutcome
        if ('refusal' in outcome) waiting.reject(outcome.refusal)
        else waiting.resolve(outcome)
      }
    } catch (error) {
      for (const { waiting } of group) waiting.reject(error)
    }
  }
}
