/** Holds the clock of a start against the last request that the ledger has: nothing else tells whether it is right. */
import { CLOCK_TOLERANCE_MS } from './clock.ts'
import type { Tell } from './notice.ts'

/** A service may be down for so long without anybody asking whether the clock is right. */
const DOWN_MS = 86_400_000
const MS_PER_SECOND = 1000

/**
 * True when the clock may be wrong: it is more than a day after the last request of any run, or before it. Then it is told, and
 * nothing should be evicted for `holdMs`. `latestAt` is 0 for a ledger without runs. Times are milliseconds since the epoch.
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
    message: `the machine's clock is ${gap} the last request of the ledger; nothing is swept for ${holdMs / MS_PER_SECOND} seconds (COATCHECK_CLOCK_HOLD_SECONDS): if the clock is wrong, set it right before`,
    facts: { since_last_request_seconds: Math.round(gapMs / MS_PER_SECOND) },
  })
  return true
}
