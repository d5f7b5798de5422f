import { describe, expect, it } from 'vitest'
import type { ValuePlan } from '../../../../src/core/view/view.ts'
import {
  packPlan,
  plannedBytes,
  unpackPlan,
} from '../../../../src/ledger/sqlite/protocol/packed-plan.ts'

const planOf = (count: number): ValuePlan => ({
  view: { chars: 1, lines: 2, bytes: 3 },
  chunks: Array.from({ length: count }, (_, n) => ({
    firstByte: n * 5,
    endByte: n * 5 + 5,
    firstLine: n + 1,
    firstCrlf: n + 2,
    firstChar: n + 3,
    // larger than an integer of 32 bits
    state: 2 ** 40 + n,
  })),
})

describe('the plan of a value', () => {
  it.each([1, 64, 65, 5_000])('of %i chunks arrives as it was sent', (count) => {
    const plan = planOf(count)
    const sent = structuredClone(packPlan(plan))
    expect(plannedBytes(sent)).toBe(count * 5)
    // sent on by a thread that does not look into it
    expect(unpackPlan(structuredClone(packPlan(sent)))).toEqual(plan)
  })

  // Fault: 250,000 chunks held the event loop for half a second, to be cloned one by one.
  it('of many chunks goes as one array of numbers', () => {
    const { chunks, packed } = packPlan(planOf(5_000))
    expect([chunks.length, packed?.byteLength]).toEqual([0, 5_000 * 6 * 8])
  })
})
