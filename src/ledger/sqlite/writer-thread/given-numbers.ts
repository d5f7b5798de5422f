/** Collects the handles that a transaction of puts gave, for the notes of commits. */
import type { GivenNumber } from '../file/commit-notes.ts'
import type { Append, AppendOutcome, Finish } from '../protocol/messages.ts'
import { nameOf } from '../rows/run-state.ts'

/**
 * The last number that each run was given. `outcomes` are those of `appends`, in the same order.
 */
export function numbersIn(
  appends: readonly (Append | Finish)[],
  outcomes: readonly AppendOutcome[],
): readonly GivenNumber[] {
  const numbers = new Map<string, GivenNumber>()
  for (const [index, outcome] of outcomes.entries()) {
    if (!('result' in outcome) || outcome.retried) continue
    const { tenant, run } = (appends[index] as Append).ref
    numbers.set(nameOf({ tenant, run }), [tenant, run, outcome.result.number])
  }
  return [...numbers.values()]
}
