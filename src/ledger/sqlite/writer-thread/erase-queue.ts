/**
 * Erasing in the background of the thread that writes, and who waits for its end. A piece at a time, between other writes;
 * answers are due when no bytes are left of what there was to erase when they were asked for.
 */
import type { Progress } from './erase-rows.ts'

/** How often, and how long apart, a log that a reader blocks is tried again before it is left to a sweep. */
const TRIES = 20
const PAUSE_MS = 50

interface Parts {
  /** Does a piece. */
  readonly step: () => Progress
  /** Leaves what is blocked for later. */
  readonly postpone: () => void
  /** Asks for a turn. */
  readonly wake: () => void
}

export interface Waiter {
  done(): void
  failed(error: unknown): void
}

export class Erasing {
  readonly #parts: Parts
  /** For rows to be erased; and for the bytes of rows that are. */
  readonly #forRows: Waiter[] = []
  readonly #forBytes: Waiter[] = []
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

  /** Something was left to be erased, and `waiter` waits until it is gone. */
  wait(waiter: Waiter): void {
    this.#forRows.push(waiter)
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
    else if (!this.#isScrubbing) this.#endScrub()
    if (progress === 'idle') this.#isActive = false
  }

  #endScrub(): void {
    this.#blocked = 0
    this.#isScrubbing = false
    for (const waiter of take(this.#forBytes)) waiter.done()
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
    this.#endScrub()
    this.#isActive = this.#forRows.length > 0
  }

  #fail(error: unknown): void {
    this.#isActive = false
    this.#isScrubbing = false
    for (const waiter of [...take(this.#forBytes), ...take(this.#forRows)]) waiter.failed(error)
  }
}

/** What it holds; it is empty after. */
const take = (waiters: Waiter[]): Waiter[] => waiters.splice(0)
