/**
 * Errors for runs that are not open. The ledger throws them in its transactions, and use cases
 * before any work.
 */
import { CoatcheckError } from '../core/errors.ts'
import type { Run, RunState } from './ledger.ts'

/**
 * Error for a request that needs an open run: `ended`, `expired` or `evicted`, by the state of the
 * run.
 */
export function runNotOpen(
  run: Pick<Run, 'id' | 'ttlSeconds'>,
  state: Exclude<RunState, 'open'>,
): CoatcheckError {
  const name = `The run ${JSON.stringify(run.id)}`
  switch (state) {
    case 'ended':
      return new CoatcheckError(
        'ended',
        `${name} was ended. Its evidence can still be recalled; use another run for new work, or purge this one to reuse its name.`,
      )
    case 'expired':
      return new CoatcheckError(
        'expired',
        `${name} was idle for longer than its ttl_seconds (${run.ttlSeconds}) and has ended. Its evidence can still be recalled; use another run for new work, or purge this one to reuse its name.`,
        { limit: 'ttl_seconds', value: run.ttlSeconds },
      )
    case 'evicted':
      return new CoatcheckError(
        'evicted',
        `${name} has ended and its retention is over: its evidence is gone. Purge it to reuse its name.`,
      )
    default:
      return state satisfies never
  }
}
