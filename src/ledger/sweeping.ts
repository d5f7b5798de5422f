/**
 * Sweeping at intervals: idle runs expire and evidence past its retention goes, a piece at a time, so that requests in
 * between are not kept waiting.
 */
import type { Ledger } from './ledger.ts'

const INTERVAL_MS = 60_000
/** Between two pieces while there is more to do. */
const PAUSE_MS = 20

export interface Sweeping {
  stop(): void
}

export function startSweeping(
  ledger: Ledger,
  options: {
    readonly now: () => number
    readonly onError: (error: unknown) => void
    readonly intervalMs?: number
    /** Until the first one; an interval when absent. */
    readonly firstMs?: number
  },
): Sweeping {
  const { now, onError, intervalMs = INTERVAL_MS, firstMs = intervalMs } = options
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const plan = (ms: number): void => {
    if (stopped) return
    timer = setTimeout(() => void sweep(), ms)
    timer.unref()
  }
  const sweep = async (): Promise<void> => {
    try {
      plan((await ledger.sweep(now())) ? PAUSE_MS : intervalMs)
    } catch (error) {
      if (stopped) return
      onError(error)
      plan(intervalMs)
    }
  }
  plan(firstMs)
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}
