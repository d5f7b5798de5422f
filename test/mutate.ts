// Set up for the tests that judge mutants: a mutant is to fail soon. A property tries fewer examples and looks for no
// smaller one, and guards of running time are left out. What survives here may still fall to `npm test`.
import { beforeEach, vi } from 'vitest'

vi.mock('fast-check', async (original) => {
  const { default: fc, ...named } = await original<typeof import('fast-check')>()
  const assert = ((property, { numRuns = DEFAULT_RUNS, ...rest } = {}) =>
    fc.assert(property, {
      ...rest,
      numRuns: fewer(numRuns),
      endOnFailure: true,
    })) as typeof fc.assert
  return { ...named, assert, default: { ...fc, assert } }
})

const DEFAULT_RUNS = 100
/** A property that asks for so many needs them all. */
const MANY_RUNS = 1_000
const SHARE = 1 / 4
const TIME_GUARD = /takes time|cost little/

const fewer = (runs: number): number => (runs < MANY_RUNS ? Math.ceil(runs * SHARE) : runs)

beforeEach(({ task, skip }) => skip(TIME_GUARD.test(task.name)))
