// What a call throws, as data to compare.
import { CoatcheckError, type ErrorCode, type ErrorFacts } from '../../src/core/errors.ts'

export interface Thrown {
  readonly code: ErrorCode
  readonly detail: string
  readonly facts: ErrorFacts
}

/** The domain error that `call` throws, undefined when it returns; anything else goes on. */
export function thrownBy(call: () => unknown): Thrown | undefined {
  try {
    call()
  } catch (error) {
    if (!(error instanceof CoatcheckError)) throw error
    return { code: error.code, detail: error.message, facts: error.facts }
  }
  return undefined
}
