/**
 * The time that runs are judged by: the machine's clock, held against the time that really passes. A clock that jumps is not
 * followed until it has stayed where it is for a while: one that was wrong for a minute must neither evict what was kept nor
 * date a request years ahead.
 */
import type { Tell } from './notice.ts'

/** A clock that is set by less is followed at once. */
export const CLOCK_TOLERANCE_MS = 60_000
const MS_PER_SECOND = 1000

export interface ClockOptions {
  /** Milliseconds since the epoch, as the machine has them. */
  readonly wall: () => number
  /** Milliseconds that pass whatever the clock is set to, from any beginning. */
  readonly monotonic: () => number
  /** How long a jump is not followed. 0: every jump is followed at once. */
  readonly holdMs: number
  readonly tell: Tell
}

interface Jump {
  readonly offsetMs: number
  readonly since: number
}

export class SteadyClock {
  readonly #options: ClockOptions
  /** The last time that was followed, and when that was. */
  #wallAt: number
  #monotonicAt: number
  #jump: Jump | undefined
  #freeUntil = Number.NEGATIVE_INFINITY

  constructor(options: ClockOptions) {
    this.#options = options
    this.#wallAt = options.wall()
    this.#monotonicAt = options.monotonic()
  }

  /** Milliseconds since the epoch. Reading it is what notices a jump. */
  now(): number {
    const monotonic = this.#options.monotonic()
    const wall = this.#options.wall()
    const steady = this.#wallAt + (monotonic - this.#monotonicAt)
    const offsetMs = wall - steady
    if (Math.abs(offsetMs) <= CLOCK_TOLERANCE_MS) {
      if (this.#jump !== undefined) this.#tellBack()
      return this.#follow(wall, monotonic)
    }
    return this.#isAccepted(offsetMs, monotonic)
      ? this.#follow(wall, monotonic)
      : Math.round(steady)
  }

  /** How far the machine's clock is ahead of this one; 0 unless it has jumped. */
  offsetSeconds(): number {
    this.now()
    return Math.round((this.#jump?.offsetMs ?? 0) / MS_PER_SECOND)
  }

  /** Follows every jump for as long as one would be held: the time of the start is in doubt itself. */
  distrustStart(): void {
    this.#freeUntil = this.#options.monotonic() + this.#options.holdMs
  }

  #follow(wall: number, monotonic: number): number {
    this.#wallAt = wall
    this.#monotonicAt = monotonic
    this.#jump = undefined
    return wall
  }

  #isAccepted(offsetMs: number, monotonic: number): boolean {
    if (monotonic < this.#freeUntil || this.#options.holdMs === 0) return true
    const known = this.#jump
    if (known === undefined || Math.abs(offsetMs - known.offsetMs) > CLOCK_TOLERANCE_MS) {
      this.#jump = { offsetMs, since: monotonic }
      this.#tellJump(offsetMs)
      return false
    }
    if (monotonic - known.since < this.#options.holdMs) return false
    this.#tellAccepted(offsetMs)
    return true
  }

  #tellJump(offsetMs: number): void {
    const held = this.#options.holdMs / MS_PER_SECOND
    this.#options.tell({
      level: 'warn',
      message: `the machine's clock has jumped ${described(offsetMs)}; runs are judged by the time before it, until the clock has stayed there for ${held} seconds (COATCHECK_CLOCK_HOLD_SECONDS)`,
      facts: { jumped_seconds: Math.round(offsetMs / MS_PER_SECOND) },
    })
  }

  #tellBack(): void {
    this.#options.tell({ level: 'warn', message: "the machine's clock is back where it was" })
  }

  #tellAccepted(offsetMs: number): void {
    this.#options.tell({
      level: 'warn',
      message: `the machine's clock has stayed ${described(offsetMs)}, and is followed now: runs may expire by it, and a sweep evicts some of those past their retention`,
      facts: { jumped_seconds: Math.round(offsetMs / MS_PER_SECOND) },
    })
  }
}

function described(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / MS_PER_SECOND)
  return `${seconds} seconds ${offsetMs < 0 ? 'back' : 'ahead'}`
}
