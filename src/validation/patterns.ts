/** Regular expressions of callers' schemas, read as widely as ECMAScript allows. */

/** A `pattern` that is no regular expression in either mode. */
export class PatternError extends Error {
  readonly pattern: string

  constructor(pattern: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.name = 'PatternError'
    this.pattern = pattern
  }
}

/** Whether the expression is one only outside of Unicode mode, where `\A` is `A`, and `\p{L}` is `p{L}`. */
export function needsPlainMode(pattern: string): boolean {
  try {
    return regExpOf(pattern).flags === ''
  } catch {
    return false
  }
}

/** The expression as Unicode mode reads it, or, where that mode forbids it, as plain ECMAScript does. */
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
