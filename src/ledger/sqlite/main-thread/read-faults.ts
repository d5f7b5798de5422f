/**
 * Makes sure that `ledger_corrupt` is reported only for bytes that were read. SQLite reports
 * SQLITE_CORRUPT both for damaged pages and for reads that the disk refused. So the query is tried
 * again, and the files are read from end to end.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { CoatcheckError } from '../../../core/errors.ts'
import { saysCorrupt } from '../file/sqlite-errors.ts'
import { isReadable } from '../file/unreadable.ts'

/**
 * Milliseconds that a call waits for the files to be read. Then it fails with `ledger_unavailable`,
 * while the reading goes on.
 */
const WAIT_MS = 2_000
/** Milliseconds for which a successful reading of the files counts. */
const VALID_MS = 60_000

/** Checks reports of damage by reading the ledger's files. */
export class ReadFaults {
  readonly #path: string
  #checking: Promise<boolean> | undefined
  #readableUntil = 0

  /** `path` is that of the ledger, which this process has open. */
  constructor(path: string) {
    this.#path = path
  }

  /**
   * Repeats a query that failed with `error`, and returns its answer. Throws the error that is
   * known by then. An error that reports no damage is thrown at once.
   */
  async again<Answer>(error: unknown, query: () => Answer | Promise<Answer>): Promise<Answer> {
    if (!saysCorrupt(error)) throw error
    try {
      return await query()
    } catch (second) {
      const judged = await this.judge(second)
      if (!saysCorrupt(judged)) throw judged
    }
    // The fault may have passed while the files were read.
    return query()
  }

  /**
   * Returns the error to answer with: `ledger_unavailable` when `error` reports damage and the
   * files cannot be read.
   */
  async judge(error: unknown): Promise<unknown> {
    if (!saysCorrupt(error)) return error
    const isKnown = performance.now() < this.#readableUntil
    const outcome = isKnown || (await Promise.race([this.#check(), sleep(WAIT_MS, 'unknown')]))
    if (outcome === true) return error
    const why =
      outcome === 'unknown'
        ? 'the files are being read to find out whether the disk fails'
        : 'the disk fails to read the ledger'
    // Without the cause: the log must not report damage that may not exist.
    return new CoatcheckError('ledger_unavailable', `${error.message}: ${why}`)
  }

  /** Reads the files; one reading at a time. */
  #check(): Promise<boolean> {
    this.#checking ??= isReadable(this.#path).then((readable) => {
      this.#checking = undefined
      if (readable) this.#readableUntil = performance.now() + VALID_MS
      return readable
    })
    return this.#checking
  }
}
