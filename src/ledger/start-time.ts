/**
 * Compares the machine's clock at a start with the last request in the ledger. Nothing else shows
 * whether the clock is right.
 */
import { CLOCK_TOLERANCE_MS } from './clock.ts'
import type { Tell } from './notice.ts'

/** A service that was down for longer than this has a start in doubt. */
const DOWN_MS = 86_400_000
const MS_PER_SECOND = 1000

/**
 * Whether the clock at a start may be wrong: more than a day after the last request of any run, or
 * more than a minute before it. Logs a warning then; the caller should evict nothing for `holdMs`.
 * `latestAt` is 0 for a ledger without runs. Times are milliseconds since the epoch.
 */
export function isStartInDoubt(
  times: { readonly now: number; readonly latestAt: number; readonly holdMs: number },
  tell: Tell,
): boolean {
  const { now, latestAt, holdMs } = times
  const gapMs = now - latestAt
  if (latestAt === 0 || holdMs === 0) return false
  if (gapMs <= DOWN_MS && gapMs >= -CLOCK_TOLERANCE_MS) return false
  const gap = `${Math.round(Math.abs(gapMs) / MS_PER_SECOND)} seconds ${gapMs < 0 ? 'before' : 'after'}`
  tell({
    level: 'warn',
    message: `the machine's clock is ${gap} the last request of the ledger; nothing is swept for ${holdMs / MS_PER_SECOND} seconds (COATCHECK_CLOCK_HOLD_SECONDS). If the clock is wrong, correct it within that time`,
    facts: { since_last_request_seconds: Math.round(gapMs / MS_PER_SECOND) },
  })
  return true
}
