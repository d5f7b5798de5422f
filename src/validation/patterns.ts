/**
 * Regular expressions of callers' schemas, in Unicode mode if possible and in plain mode otherwise.
 */

/** A pattern that is not a regular expression in either mode. */
export class PatternError extends Error {
  readonly pattern: string

  constructor(pattern: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'PatternError'
    this.pattern = pattern
  }
}

/**
 * Whether `pattern` is valid only without Unicode mode, where `\A` means `A` and `\p{L}` means
 * `p{L}`.
 */
export function needsPlainMode(pattern: string): boolean {
  try {
    return regExpOf(pattern).flags === ''
  } catch {
    return false
  }
}

/**
 * Compiles a pattern in Unicode mode, or in plain mode when Unicode mode refuses it. Throws
 * {@link PatternError} when both refuse it.
 */
export function regExpOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    try {
      return new RegExp(pattern)
    } catch (cause) {
      throw new PatternError(pattern, cause)
    }
  }
}
