/**
 * Sweeps a ledger at intervals: idle runs expire, and evidence past its retention is evicted. Each
 * sweep is done in pieces, so that requests do not wait long.
 */
import type { Ledger } from './ledger.ts'

const INTERVAL_MS = 60_000
/** Pause between two pieces of a sweep. */
const PAUSE_MS = 20

/** Handle of running sweeps. */
export interface Sweeping {
  /** Starts no further piece. A piece under way goes on. */
  stop(): void
}

/**
 * Starts sweeps. `onError` gets the error of a failed one; the next follows after an interval. The
 * timers do not keep the process running.
 */
export function startSweeping(
  ledger: Ledger,
  options: {
    readonly now: () => number
    readonly onError: (error: unknown) => void
    readonly intervalMs?: number
    /** Milliseconds until the first sweep; an interval when absent. */
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
