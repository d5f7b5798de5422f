import { describe, expect, it } from 'vitest'
import {
  collapseFailures,
  compactFailure,
  type FailureEvent,
  repeatedFailure,
} from '../../src/core/failures.ts'
import { member, sameText, type Tree, text, toJson, vectors } from '../vectors.ts'

function eventOf(tree: Tree): FailureEvent {
  if (tree instanceof Map && tree.has('success')) return { success: true }
  return { tool: text(member(tree, 'tool')), message: text(member(tree, 'message')) }
}

describe('vectors of compact_error', () => {
  it.each([...vectors('compact_error')])('$name', ({ input, expected }) => {
    expect(sameText(expected, compactFailure(text(member(input, 'message'))))).toBe(true)
  })
})

describe('vectors of failure_tracker', () => {
  it.each([...vectors('failure_tracker')])('$name', ({ input, expected }) => {
    const events = (member(input, 'events') as readonly Tree[]).map(eventOf)
    expect(toJson(collapseFailures(events))).toBe(toJson(expected))
  })
})

describe('failures', () => {
  it('are compared whole, not as shown', () => {
    const long = (middle: string) => `${'a'.repeat(400)}${middle}${'b'.repeat(400)}`
    const [first, second, third] = collapseFailures([
      { tool: 't', message: long('1') },
      { tool: 't', message: long('2') },
      { tool: 't', message: long('2') },
    ])
    expect(second).toBe(first)
    expect(third).toBe(repeatedFailure('t', 2))
  })

  it('are counted anew after a success', () => {
    const failure = { tool: 't', message: 'm' }
    expect(collapseFailures([failure, failure, { success: true }, failure])).toEqual([
      'm',
      repeatedFailure('t', 2),
      null,
      'm',
    ])
  })

  it('name a tool literally, or none', () => {
    expect(repeatedFailure('$&', 2)).toContain('tool `$&` has failed 2 consecutive times')
    expect(repeatedFailure(undefined, 3)).toContain('the tool has failed 3 consecutive times')
  })

  it('are well-formed text for a model, and no cut splits a code point', () => {
    expect(compactFailure('\ud800')).toBe('\ufffd')
    expect(compactFailure('😀'.repeat(513)).isWellFormed()).toBe(true)
  })
})
