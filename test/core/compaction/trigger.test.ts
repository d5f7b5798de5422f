import { describe, expect, it } from 'vitest'
import { decideTrigger } from '../../../src/core/compaction/trigger.ts'
import { member, NumberToken, type Tree, toJson, vectors } from '../../vectors.ts'

const number = (tree: Tree) => (tree instanceof NumberToken ? Number(tree.text) : null)

describe('vectors of trigger', () => {
  it('all agree', () => {
    let seen = 0
    for (const { name, input, expected } of vectors('trigger')) {
      const { trigger, threshold_tokens, fires } = decideTrigger(
        {
          auto_threshold_tokens: number(member(input, 'auto_threshold_tokens')),
          auto_threshold_percent: number(member(input, 'auto_threshold_percent')),
          context_window: number(member(input, 'context_window')),
        },
        number(member(input, 'estimated_tokens')) ?? Number.NaN,
      )
      const got = JSON.stringify({ trigger, threshold: threshold_tokens, fires })
      expect(got, name).toBe(toJson(expected))
      seen++
    }
    expect(seen).toBeGreaterThan(0)
  })
})

describe('a trigger', () => {
  const settings = (tokens: number | null, percent: number | null, window: number | null) => ({
    auto_threshold_tokens: tokens,
    auto_threshold_percent: percent,
    context_window: window,
  })

  it('falls back on the absolute number for a model whose window is unknown', () => {
    expect(decideTrigger(settings(50_000, 75, null), 60_000)).toEqual({
      trigger: 'Thresholds',
      threshold_tokens: 50_000,
      fires: true,
    })
  })

  it('lets the share of a known window win, though it is larger', () => {
    expect(decideTrigger(settings(50_000, 75, 1_000_000), 60_000).fires).toBe(false)
    expect(decideTrigger(settings(50_000, 75, 1_000_000), 760_000).fires).toBe(true)
  })

  it('keeps to the absolute number when no share is set', () => {
    expect(decideTrigger(settings(50_000, null, 1_000_000), 60_000).fires).toBe(true)
  })

  it('never fires when both are null', () => {
    expect(decideTrigger(settings(null, null, 1_000_000), 999_999_999)).toEqual({
      trigger: 'Off',
      threshold_tokens: null,
      fires: false,
    })
  })

  it('is exact for windows whose product with the percentage no double holds', () => {
    const window = Number.MAX_SAFE_INTEGER
    const exact = Number((BigInt(window) * 99n) / 100n)
    expect(decideTrigger(settings(null, 99, window), 0).threshold_tokens).toBe(exact)
  })
})
