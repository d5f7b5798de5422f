/**
 * Stops synchronous work in its own thread, so that the thread keeps its compiled schemas. The time
 * limit of a script is the only way to stop JavaScript from within. That limit counts time by the
 * clock, but deadlines count processor time. So work that the clock stopped too early is repeated
 * with more time.
 */
import { createContext, Script } from 'node:vm'
import type { Guard } from '../ajv/compiled-schema.ts'
import type { ThreadLimits } from '../limits.ts'
import { deadlineMs, outOfTime, type Phase, tooSlow } from './deadlines.ts'
import { type Progress, threadCpuUs } from './progress.ts'

const SCRIPT_TIMEOUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'
const US_PER_MS = 1000
/**
 * Share of its deadline after which stopped work counts as too slow. It is below 1 since timers and
 * processor time are not measured alike.
 */
const USED_UP = 0.9
/**
 * Bounds and margin of the factor by which the clock limit grows from one attempt to the next. The
 * factor follows the share of the processor that the work got.
 */
const GROWTH_LEAST = 2
const GROWTH_MOST = 8
const GROWTH_MARGIN = 1.25

/** Processor time that the current call may use. */
export interface Budget {
  /**
   * Processor time after which the call is left unfinished, in milliseconds. Undefined when only
   * the deadlines hold.
   */
  quickMs: number | undefined
  /** Called with the processor time that a phase used, in milliseconds. */
  readonly spend: (phase: Phase, ms: number) => void
}

/** Thrown for work that was stopped because it is not quick. */
export class Unfinished extends Error {}

/**
 * Makes a guard. It throws {@link Unfinished} or `over_limit` when work has used up its processor
 * time, and `overloaded` when the clock leaves no time for another attempt. Stopped work does not
 * run its `finally` blocks and may be started again from the beginning.
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

/**
 * Makes a function that runs work for at most `clockMs` by the clock. It returns undefined when the
 * work was stopped.
 */
function attempting(): Attempt {
  let run = (): void => {}
  const context = createContext({ run: () => run() })
  // Only scripts can be stopped, so a script calls the work.
  const script = new Script('run()')
  return (work, clockMs) => {
    const results: { readonly result: ReturnType<typeof work> }[] = []
    run = () => {
      results.push({ result: work() })
    }
    try {
      script.runInContext(context, { timeout: clockMs })
    } catch (error) {
      // The error belongs to the context's realm and is no instance of `Error` here.
      if ((error as { readonly code?: unknown }).code !== SCRIPT_TIMEOUT) throw error
    }
    return results[0]
  }
}
