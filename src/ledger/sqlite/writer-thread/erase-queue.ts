/**
 * Erases in the background of the writer thread, a piece at a time between other writes, and
 * answers the callers that wait for it. A caller is answered when no byte is left of what was to be
 * erased at its call.
 */
import type { Erased } from '../../ledger.ts'
import type { Progress } from './erase-rows.ts'

/**
 * Number of tries, and milliseconds between them, to empty a log that a reader blocks. Then it is
 * left to a sweep.
 */
const TRIES = 20
const PAUSE_MS = 50
/** Most milliseconds that a caller waits. The first scrub of a large file takes longer. */
const WAIT_MS = 5_000

interface Parts {
  /** Erases a piece. */
  readonly step: () => Progress
  /** Leaves a blocked scrub for later. */
  readonly postpone: () => void
  /** Asks for a turn of the write loop. */
  readonly wake: () => void
}

/** Caller that waits for an erasure. */
export interface Waiter {
  done(erased: Erased): void
  failed(error: unknown): void
}

interface Waiting extends Waiter {
  /** By `performance.now()`. */
  readonly until: number
}

/** Queue of erasing work and of the callers that wait for it. */
export class Erasing {
  readonly #parts: Parts
  /** Callers that wait for rows to be erased. */
  #forRows: Waiting[] = []
  /**
   * Callers whose rows are erased, and that wait for the bytes of those rows to leave the files.
   */
  #forBytes: Waiting[] = []
  #isScrubbing = false
  #isActive = true
  #blocked = 0
  #pause: NodeJS.Timeout | undefined

  /** Looks at once for work that an earlier process left. */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True when a piece can be erased now. */
  get isDue(): boolean {
    return this.#isActive && this.#pause === undefined
  }

  /** Notes that there may be something to erase. */
  start(): void {
    this.#isActive = true
  }

  /** Adds a caller that waits until everything is erased, or for some seconds at most. */
  wait({ done, failed }: Waiter): void {
    this.#forRows.push({ done, failed, until: performance.now() + WAIT_MS })
    this.start()
  }

  /**
   * Erases a piece. When other writes are pending (`busy`), a pause of the same length follows. An
   * error is passed to all who wait; the remaining pieces are left until {@link start}.
   */
  step({ busy }: { readonly busy: boolean }): Progress {
    const startedAt = performance.now()
    try {
      const progress = this.#parts.step()
      this.#note(progress)
      this.#answerLate()
      if (busy) this.#rest(performance.now() - startedAt)
      return progress
    } catch (error) {
      this.#fail(error)
      return 'idle'
    }
  }

  /** Erases everything that a caller waits for, then stops. */
  finish(): void {
    while (this.#forRows.length + this.#forBytes.length > 0) {
      if (this.step({ busy: false }) === 'blocked') this.#giveUp()
    }
    this.#isActive = false
    clearTimeout(this.#pause)
  }

  #note(progress: Progress): void {
    if (progress === 'erasing') return
    if (!this.#isScrubbing) this.#forBytes.push(...take(this.#forRows))
    this.#isScrubbing = progress === 'scrubbing' || progress === 'blocked'
    if (progress === 'blocked') this.#retry()
    else if (!this.#isScrubbing) this.#endScrub('done')
    if (progress === 'idle') this.#isActive = false
  }

  #endScrub(erased: Erased): void {
    this.#blocked = 0
    this.#isScrubbing = false
    for (const waiter of take(this.#forBytes)) waiter.done(erased)
  }

  #answerLate(): void {
    const now = performance.now()
    const isLate = ({ until }: Waiting): boolean => until < now
    const late = [...this.#forBytes, ...this.#forRows].filter(isLate)
    if (late.length === 0) return
    this.#forBytes = this.#forBytes.filter((waiter) => !isLate(waiter))
    this.#forRows = this.#forRows.filter((waiter) => !isLate(waiter))
    for (const waiter of late) waiter.done('pending')
  }

  #retry(): void {
    this.#blocked++
    if (this.#blocked > TRIES) this.#giveUp()
    else this.#rest(PAUSE_MS)
  }

  #rest(ms: number): void {
    if (this.#pause !== undefined) return
    this.#pause = setTimeout(() => {
      this.#pause = undefined
      this.#parts.wake()
    }, ms)
  }

  /** Answers `pending` to those whose rows are erased while the log cannot be emptied. */
  #giveUp(): void {
    try {
      this.#parts.postpone()
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#endScrub('pending')
    this.#isActive = this.#forRows.length > 0
  }

  #fail(error: unknown): void {
    this.#isActive = false
    this.#isScrubbing = false
    for (const waiter of [...take(this.#forBytes), ...take(this.#forRows)]) waiter.failed(error)
  }
}

/** Takes all entries out of the array. */
const take = (waiters: Waiting[]): Waiting[] => waiters.splice(0)
