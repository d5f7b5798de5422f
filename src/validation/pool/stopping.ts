/**
 * Stops synchronous work in the thread that does it, so that the thread keeps everything it has compiled. A script's time
 * limit, the only way to stop JavaScript from within, is by the clock; the deadline is in processor time. Work that the clock
 * stopped early is done again with more time.
 */
import { createContext, Script } from 'node:vm'
import type { Guard } from '../ajv/compiled-schema.ts'
import type { ThreadLimits } from '../limits.ts'
import { deadlineMs, outOfTime, type Phase, tooSlow } from './deadlines.ts'
import { type Progress, threadCpuUs } from './progress.ts'

const SCRIPT_TIMEOUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'
const US_PER_MS = 1000
/** Part of its deadline that work must have used to be too slow: timer and processor time are not measured alike. */
const USED_UP = 0.9
/** How the time by the clock grows from one attempt to the next, around what the share of the processor so far suggests. */
const GROWTH_LEAST = 2
const GROWTH_MOST = 8
const GROWTH_MARGIN = 1.25

/** What the call at hand may use and has used. */
export interface Budget {
  /** Processor time after which the call is left unfinished; undefined where its deadlines hold. */
  quickMs: number | undefined
  /** Notes processor time that a phase has used, in milliseconds. */
  readonly spend: (phase: Phase, ms: number) => void
}

/** Thrown for work that was stopped because it is not quick. */
export class Unfinished extends Error {}

/**
 * A guard that throws {@link Unfinished} or `over_limit` when work has used its processor time, and `overloaded` when the
 * clock allows no further attempt. Work that is stopped leaves its `finally` blocks undone, and may be begun again from the
 * start.
 */
export function stoppingGuard(limits: ThreadLimits, progress: Progress, budget: Budget): Guard {
  const attempt = attempting()
  return (phase, valueBytes, work) => {
    const deadline = deadlineMs(phase, valueBytes, limits)
    const limitMs = Math.min(deadline, budget.quickMs ?? deadline)
    for (let clockMs = limitMs; clockMs <= limitMs + limits.waitMs; ) {
      progress.begin(phase)
      const beganAtUs = threadCpuUs()
      const outcome = attempt(work, clockMs)
      const usedMs = (threadCpuUs() - beganAtUs) / US_PER_MS
      budget.spend(phase, usedMs)
      if (outcome !== undefined) return outcome.result
      if (usedMs >= limitMs * USED_UP)
        throw limitMs < deadline ? new Unfinished() : tooSlow(phase, limits)
      clockMs = Math.ceil(clockMs * growth(limitMs / usedMs))
    }
    throw outOfTime(limits)
  }
}

const growth = (missing: number): number =>
  Math.min(GROWTH_MOST, Math.max(GROWTH_LEAST, missing * GROWTH_MARGIN))

type Attempt = <Result>(
  work: () => Result,
  clockMs: number,
) => { readonly result: Result } | undefined

/** Runs work for at most `clockMs` by the clock; undefined when it was stopped. */
function attempting(): Attempt {
  let run = (): void => {}
  const context = createContext({ run: () => run() })
  // Only scripts can be stopped, so one calls back.
  const script = new Script('run()')
  return (work, clockMs) => {
    const results: { readonly result: ReturnType<typeof work> }[] = []
    run = () => {
      results.push({ result: work() })
    }
    try {
      script.runInContext(context, { timeout: clockMs })
    } catch (error) {
      // It is an error of the context's realm, no instance of `Error` here.
      if ((error as { readonly code?: unknown }).code !== SCRIPT_TIMEOUT) throw error
    }
    return results[0]
  }
}
