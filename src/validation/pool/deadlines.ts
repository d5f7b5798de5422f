/**
 * How long a call may take, and what is said when it takes longer. A pattern that backtracks is stopped where it is, by the
 * thread that tries it, which then goes on with all it has compiled; whatever else is late ends its thread.
 */
import { createContext, Script } from 'node:vm'
import { CoatcheckError } from '../../core/errors.ts'
import { JUDGE_BYTES_PER_MS, READ_BYTES_PER_MS, type ThreadLimits } from '../limits.ts'

/** What is being done, for who watches the time. */
export type Phase = 'compile' | 'read' | 'validate'

/** Milliseconds that `phase` may take for a value of so many bytes. */
export function deadlineMs(
  phase: Phase,
  valueBytes: number,
  { compileMs, validateMs }: Pick<ThreadLimits, 'compileMs' | 'validateMs'>,
): number {
  switch (phase) {
    case 'compile':
      return compileMs
    case 'read':
      return validateMs + Math.floor(valueBytes / READ_BYTES_PER_MS)
    case 'validate':
      return validateMs + Math.floor(valueBytes / JUDGE_BYTES_PER_MS)
    default:
      return phase satisfies never
  }
}

/** Does work that may not end by itself; how long is up to who made it. Throws what `work` throws, or `over_limit`. */
export type Guard = <Result>(work: () => Result, valueBytes: number) => Result

/** A guard that stops work when its time is over. What `work` has not finished, `finally` included, stays undone. */
export function stoppingGuard(limits: Pick<ThreadLimits, 'compileMs' | 'validateMs'>): Guard {
  let run = (): void => {}
  const context = createContext({ run: () => run() })
  // Only scripts can be stopped, so one calls back.
  const script = new Script('run()')
  return (work, valueBytes) => {
    const results: ReturnType<typeof work>[] = []
    run = () => {
      results.push(work())
    }
    try {
      script.runInContext(context, { timeout: deadlineMs('validate', valueBytes, limits) })
    } catch (error) {
      // It is an error of the context's realm, no instance of `Error` here.
      const isLate = (error as { readonly code?: unknown }).code === SCRIPT_TIMEOUT
      throw isLate ? judgesLong(limits.validateMs) : error
    }
    return results[0] as ReturnType<typeof work>
  }
}

const SCRIPT_TIMEOUT = 'ERR_SCRIPT_EXECUTION_TIMEOUT'

export const compilesLong = (value: number): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The schema does not compile within ${value} ms (compile_ms). Make it smaller, or share its parts under "$defs".`,
    { limit: 'compile_ms', value },
  )

export const judgesLong = (value: number): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The arguments cannot be judged within ${value} ms (validate_ms). Most likely a pattern of the schema backtracks on a text that it nearly matches: simplify the pattern, or bound the text with "maxLength".`,
    { limit: 'validate_ms', value },
  )
