/**
 * Limits on the processor time of each phase of a call, and the errors for calls that exceed them
 * or never got it.
 */
import { CoatcheckError } from '../../core/errors.ts'
import { JUDGE_BYTES_PER_MS, READ_BYTES_PER_MS, type ThreadLimits } from '../limits.ts'

/** Phase of validating, named after the part of the schema that is most likely to make it slow. */
export type JudgingPhase = 'validate' | 'validate_patterns' | 'validate_references'
/** Phase of a call in a validation thread. */
export type Phase = 'read' | 'compile' | JudgingPhase

type Deadlines = Pick<ThreadLimits, 'compileMs' | 'validateMs'>

/** Processor time in milliseconds that `phase` may use for a value of `valueBytes`. */
export function deadlineMs(
  phase: Phase,
  valueBytes: number,
  { compileMs, validateMs }: Deadlines,
): number {
  switch (phase) {
    case 'compile':
      return compileMs
    case 'read':
      return validateMs + Math.floor(valueBytes / READ_BYTES_PER_MS)
    case 'validate':
    case 'validate_patterns':
    case 'validate_references':
      return validateMs + Math.floor(valueBytes / JUDGE_BYTES_PER_MS)
    default:
      return phase satisfies never
  }
}

/**
 * Milliseconds by the clock that a call for a value of `valueBytes` may take, its wait for a thread
 * included.
 */
export const waitMs = (valueBytes: number, limits: Pick<ThreadLimits, 'waitMs'>): number =>
  limits.waitMs +
  Math.floor(valueBytes / READ_BYTES_PER_MS) +
  Math.floor(valueBytes / JUDGE_BYTES_PER_MS)

const ADVICE: Readonly<Record<Exclude<Phase, 'compile'>, string>> = {
  read: 'Reference a smaller part of the value.',
  validate: 'Reference a smaller part of the value, or simplify the schema.',
  validate_patterns:
    'The schema has patterns: most likely one backtracks on a text that it nearly matches. Simplify that pattern.',
  validate_references:
    'The schema has references: most likely they judge the same part of the value again and again. Simplify them, or reference a smaller part of the value.',
}

/**
 * Makes an `over_limit` for a phase that used up its processor time. Only advice for schemas with
 * patterns mentions patterns.
 */
export function tooSlow(phase: Phase, { compileMs, validateMs }: Deadlines): CoatcheckError {
  if (phase === 'compile') {
    return new CoatcheckError(
      'over_limit',
      `The schema takes more than ${compileMs} ms of processor time to compile (compile_ms). Make it smaller, or share its parts under "$defs".`,
      { limit: 'compile_ms', value: compileMs },
    )
  }
  const what = phase === 'read' ? 'read for validation' : 'validate'
  return new CoatcheckError(
    'over_limit',
    `The arguments take more than ${validateMs} ms of processor time to ${what} (validate_ms). ${ADVICE[phase]}`,
    { limit: 'validate_ms', value: validateMs },
  )
}

const MS_PER_SECOND = 1000

/**
 * Makes an `overloaded`: the call was not finished within {@link waitMs}. The call itself is not at
 * fault.
 */
export function outOfTime(limits: Pick<ThreadLimits, 'waitMs'>): CoatcheckError {
  const value = limits.waitMs / MS_PER_SECOND
  return new CoatcheckError(
    'overloaded',
    `The validation was not finished within ${value} s (validation_wait_seconds): other calls came first, or the machine had no processor time left. The call is not at fault; send it again in a moment.`,
    { limit: 'validation_wait_seconds', value },
  )
}
