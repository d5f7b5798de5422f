/**
 * Says `ledger_corrupt` only of bytes that were read. SQLite reports SQLITE_CORRUPT for damaged pages and for reads that the
 * disk refused, so that its word is checked: the query is tried again, and the files are read from end to end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CoatcheckError } from '../../../core/errors.ts'
import { saysCorrupt } from '../file/sqlite-errors.ts'
import { isReadable } from '../file/unreadable.ts'

/** How long a call waits for the files to be read. Past it the call is `ledger_unavailable`, and the reading goes on. */
const WAIT_MS = 2_000
/** How long a reading counts that found all files readable. */
const VALID_MS = 60_000

export class ReadFaults {
  readonly #path: string
  #checking: Promise<boolean> | undefined
  #readableUntil = 0

  /** `path`: of the ledger, while this process has it open. */
  constructor(path: string) {
    this.#path = path
  }

  /** The answer of a query that failed with `error` and is made again. Throws what is known of the failure then. */
  async again<Answer>(error: unknown, query: () => Answer | Promise<Answer>): Promise<Answer> {
    if (!saysCorrupt(error)) throw error
    try {
      return await query()
    } catch (second) {
      const judged = await this.judge(second)
      if (!saysCorrupt(judged)) throw judged
    }
    // A fault that has passed while the files were read.
    return query()
  }

  /** The error to answer with: `ledger_unavailable` where `error` says corrupt and the files cannot be read. */
  async judge(error: unknown): Promise<unknown> {
    if (!saysCorrupt(error)) return error
    const isKnown = performance.now() < this.#readableUntil
    const outcome = isKnown || (await Promise.race([this.#check(), sleep(WAIT_MS, 'unknown')]))
    if (outcome === true) return error
    const why =
      outcome === 'unknown'
        ? 'whether the disk fails to read the ledger is being looked into'
        : 'the disk fails to read the ledger'
    // Without its cause: the log is not to call damaged what may be whole.
    return new CoatcheckError('ledger_unavailable', `${error.message}: ${why}`)
  }

  /** One reading at a time. */
  #check(): Promise<boolean> {
    this.#checking ??= isReadable(this.#path).then((readable) => {
      this.#checking = undefined
      if (readable) this.#readableUntil = performance.now() + VALID_MS
      return readable
    })
    return this.#checking
  }
}
