/**
 * Erasing in the background of the thread that writes, and who waits for its end. A piece at a time, between other writes;
 * answers are due when no bytes are left of what there was to erase when they were asked for.
 */
import type { Erased } from '../../ledger.ts'
import type { Progress } from './erase-rows.ts'

/** How often, and how long apart, a log that a reader blocks is tried again before it is left to a sweep. */
const TRIES = 20
const PAUSE_MS = 50
/** How long anybody waits. A first scrub of a large file takes longer. */
const WAIT_MS = 5_000

interface Parts {
  /** Does a piece. */
  readonly step: () => Progress
  /** Leaves what is blocked for later. */
  readonly postpone: () => void
  /** Asks for a turn. */
  readonly wake: () => void
}

export interface Waiter {
  done(erased: Erased): void
  failed(error: unknown): void
}

interface Waiting extends Waiter {
  /** By `performance.now()`. */
  readonly until: number
}

export class Erasing {
  readonly #parts: Parts
  /** For rows to be erased; and for the bytes of rows that are. */
  #forRows: Waiting[] = []
  #forBytes: Waiting[] = []
  #isScrubbing = false
  #isActive = true
  #blocked = 0
  #pause: NodeJS.Timeout | undefined

  /** What an earlier process left is looked for at once. */
  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** True when a piece can be done now. */
  get isDue(): boolean {
    return this.#isActive && this.#pause === undefined
  }

  /** There may be something to do. */
  start(): void {
    this.#isActive = true
  }

  /** Something was left to be erased, and `waiter` waits until it is gone, or for some seconds. */
  wait({ done, failed }: Waiter): void {
    this.#forRows.push({ done, failed, until: performance.now() + WAIT_MS })
    this.start()
  }

  /**
   * A piece; where others are `busy` writing, a rest as long as it took follows. What it throws is told to all who wait; the
   * remaining pieces are left to the next start.
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

  /** Does all that somebody waits for; nothing more is done after. */
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

  /** The rows are gone already, whatever becomes of the log. */
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

/** What it holds; it is empty after. */
const take = (waiters: Waiting[]): Waiting[] => waiters.splice(0)
