/**
 * Clock that decides when runs expire and are evicted. It compares the machine's clock with a
 * monotonic one.
 *
 * A jump of the machine's clock is followed only after the clock has stayed there for a while. A
 * clock that is wrong for a minute must neither evict evidence nor date a request years ahead.
 */
import type { Tell } from './notice.ts'

/** A jump of at most this size is followed at once. */
export const CLOCK_TOLERANCE_MS = 60_000
const MS_PER_SECOND = 1000

/** Sources and settings of a {@link SteadyClock}. */
export interface ClockOptions {
  /** The machine's clock, in milliseconds since the epoch. */
  readonly wall: () => number
  /** A clock that cannot be set, in milliseconds from any start. */
  readonly monotonic: () => number
  /** Milliseconds before a jump is followed. With 0 every jump is followed at once. */
  readonly holdMs: number
  readonly tell: Tell
}

/** A jump that is not followed yet. `since` is a time of the monotonic clock. */
interface Jump {
  readonly offsetMs: number
  readonly since: number
}

/** Clock that holds back jumps of the machine's clock and logs them. */
export class SteadyClock {
  readonly #options: ClockOptions
  /** The last reading of the machine's clock that was followed, with the monotonic time of it. */
  #wallAt: number
  #monotonicAt: number
  #jump: Jump | undefined
  /** Monotonic time until which every jump is followed. */
  #freeUntil = Number.NEGATIVE_INFINITY

  constructor(options: ClockOptions) {
    this.#options = options
    this.#wallAt = options.wall()
    this.#monotonicAt = options.monotonic()
  }

  /** Returns milliseconds since the epoch. Jumps are noticed by this call only. */
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

  /**
   * Seconds by which the machine's clock is ahead of this one. 0 unless a jump is being held back.
   */
  offsetSeconds(): number {
    this.now()
    return Math.round((this.#jump?.offsetMs ?? 0) / MS_PER_SECOND)
  }

  /** Follows every jump during the next `holdMs`. For a start whose time is itself in doubt. */
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
      message: `the machine's clock has jumped ${described(offsetMs)}; the service goes on with the earlier time until the clock has stayed there for ${held} seconds (COATCHECK_CLOCK_HOLD_SECONDS)`,
      facts: { jumped_seconds: Math.round(offsetMs / MS_PER_SECOND) },
    })
  }

  #tellBack(): void {
    this.#options.tell({ level: 'warn', message: "the machine's clock is back where it was" })
  }

  #tellAccepted(offsetMs: number): void {
    this.#options.tell({
      level: 'warn',
      message: `the machine's clock has stayed ${described(offsetMs)} and is followed now: runs may expire, and sweeps evict runs past their retention, a limited number in a minute`,
      facts: { jumped_seconds: Math.round(offsetMs / MS_PER_SECOND) },
    })
  }
}

function described(offsetMs: number): string {
  const seconds = Math.round(Math.abs(offsetMs) / MS_PER_SECOND)
  return `${seconds} seconds ${offsetMs < 0 ? 'back' : 'ahead'}`
}
