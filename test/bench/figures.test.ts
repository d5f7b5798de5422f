import { describe, expect, it } from 'vitest'
import { type Bound, failuresOf, type Outcome, type RowSpec, verdictOf } from '../../bench/case.ts'
import { lineOf, tableOf } from '../../bench/report.ts'
import { size } from '../../bench/show.ts'
import { median, medianRatio } from '../../bench/stats.ts'

const row = (bound?: Bound): RowSpec => ({
  id: 'put',
  what: 'a put',
  unit: 'x',
  ...(bound === undefined ? {} : { bound }),
})
const outcome = (value: number, bound?: Bound): Outcome => ({
  row: row(bound),
  result: { ours: '1/s', baseline: '2/s', value },
})
const floor: Bound = { kind: 'at_least', value: 0.5 }
const ceiling: Bound = { kind: 'at_most', value: 1.2 }

describe('a median', () => {
  it('is the value in the middle, whatever the order', () => {
    expect(median([9, 1, 5])).toBe(5)
  })

  it('of an even number is the mean of the two in the middle', () => {
    expect(median([4, 1, 100, 2])).toBe(3)
  })

  it('of nothing is an error', () => {
    expect(() => median([])).toThrow('median of nothing')
  })
})

describe('a ratio', () => {
  it('is taken within each round, so that a slow round of both changes nothing', () => {
    expect(medianRatio([10, 1, 10], [20, 2, 20])).toBe(0.5)
    // the ratio of the medians would be 1
    expect(medianRatio([3, 2, 1], [1, 2, 3])).toBe(1)
    expect(medianRatio([1, 8, 9], [1, 2, 9])).toBe(1)
  })

  it('of different rounds is an error', () => {
    expect(() => medianRatio([1, 2], [1])).toThrow('same rounds')
  })
})

describe('a verdict', () => {
  it.each([
    ['met', 0.5, floor],
    ['missed', 0.49, floor],
    ['missed', 0.25, floor],
    ['gross', 0.24, floor],
    ['met', 1.2, ceiling],
    ['missed', 2.4, ceiling],
    ['gross', 2.41, ceiling],
    ['failed', Number.NaN, ceiling],
    ['context', 7, undefined],
  ] as const)('is %s for %d where the bound is %o', (verdict, value, bound) => {
    expect(verdictOf(outcome(value, bound))).toBe(verdict)
  })

  it('lets a check pass over a near miss, and over no row that did not run', () => {
    const failed: Outcome = { row: row(), result: { failed: 'no room' } }
    const gross = outcome(9, ceiling)
    expect(failuresOf([outcome(0.3, floor), failed, gross])).toEqual([failed, gross])
  })

  it('holds a row whose floor is far off to what has been reached', () => {
    const [near, worse] = [0.11, 0.09].map((value) => {
      const { row, result } = outcome(value, floor)
      return { row: { ...row, reached: 0.2 }, result }
    })
    expect([near, worse].map((one) => verdictOf(one as Outcome))).toEqual(['gross', 'gross'])
    expect(failuresOf([near as Outcome, worse as Outcome])).toEqual([worse])
  })
})

describe('the table', () => {
  it('shows what was measured, the figure, its floor, and whether that is met', () => {
    expect(
      tableOf([outcome(0.51, floor), outcome(1.5, ceiling)])
        .split('\n')
        .slice(2),
    ).toEqual([
      '| a put | 1/s | 2/s | 0.51 | ≥ 0.5 | yes |',
      '| a put | 1/s | 2/s | 1.5 | ≤ 1.2 | no |',
    ])
  })

  it('says why a row has no figure, in one cell', () => {
    const failed: Outcome = { row: row(floor), result: { failed: 'no\nroom | here' } }
    expect(tableOf([failed])).toContain('| a put |  |  | no room \\| here | ≥ 0.5 | did not run |')
  })

  it('goes to the terminal line by line', () => {
    expect(lineOf(outcome(0.2, floor))).toBe(
      'put: a put: 0.2 (1/s to 2/s); floor ≥ 0.5: no, by far',
    )
  })

  it('names sizes in the unit that is read', () => {
    expect([size(1_000_000), size(1_000_000_000)]).toEqual(['1 MB', '1 GB'])
  })
})
