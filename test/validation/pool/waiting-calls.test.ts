import { describe, expect, it } from 'vitest'
import { QUEUE_CALLS } from '../../../src/validation/limits.ts'
import { Costs } from '../../../src/validation/pool/costs.ts'
import { type Waiting, WaitingCalls } from '../../../src/validation/pool/waiting-calls.ts'

interface Named extends Waiting {
  readonly name: string
}

const refused: string[] = []
const call = (name: string, given: Partial<Waiting> = {}): Named => ({
  name,
  tenant: 't',
  connection: name,
  bytes: 1,
  sinceMs: 0,
  expectedMs: 5,
  refuse: () => refused.push(name),
  ...given,
})

function order(calls: readonly Named[], used: (tenant: string) => number = () => 0, nowMs = 1_000) {
  const waiting = new WaitingCalls<Named>()
  for (const each of calls) waiting.add(each)
  const taken = calls.map(() => waiting.take(nowMs, { allowLong: true, used })?.name)
  return taken
}

describe('calls that wait', () => {
  it('go shortest first, and long ones in the end', () => {
    const calls = [
      call('long', { expectedMs: 250 }),
      call('short', { expectedMs: 1 }),
      call('some'),
    ]
    expect(order(calls)).toEqual(['short', 'some', 'long'])
    const patient = call('long', { expectedMs: 250, sinceMs: -60_000 })
    expect(order([call('short', { expectedMs: 5, sinceMs: 990 }), patient])[0]).toBe('long')
  })

  it('go by what their tenants have used lately', () => {
    const calls = [call('a', { tenant: 'busy' }), call('b', { tenant: 'calm', expectedMs: 20 })]
    expect(order(calls, (tenant) => (tenant === 'busy' ? 500 : 1))).toEqual(['b', 'a'])
  })

  it('of one connection count for each other', () => {
    const many = ['a1', 'a2', 'a3'].map((name) => call(name, { connection: 'a' }))
    expect(order([...many, call('b', { connection: 'b' })])).toEqual(['a1', 'b', 'a2', 'a3'])
  })

  it('that are long do not go where only quick ones may', () => {
    const waiting = new WaitingCalls<Named>()
    waiting.add(call('long', { expectedMs: 250 }))
    const used = () => 0
    expect(waiting.take(0, { allowLong: false, used })).toBe(undefined)
    expect(waiting.take(0, { allowLong: true, used })?.name).toBe('long')
  })

  it('past the bound give way: the longest of the tenant that has most', () => {
    refused.length = 0
    const waiting = new WaitingCalls<Named>()
    for (let n = 0; n < QUEUE_CALLS; n++) {
      waiting.add(call(`many${n}`, { tenant: 'many', expectedMs: n === 7 ? 250 : 5 }))
    }
    waiting.add(call('one', { tenant: 'few', expectedMs: 900 }))
    expect(refused).toEqual(['many7'])
    waiting.add(call('more', { tenant: 'many', expectedMs: 300 }))
    expect(refused).toEqual(['many7', 'more'])
    expect(waiting.size).toBe(QUEUE_CALLS)
  })
})

describe('what calls cost', () => {
  it('is expected to be what they cost before, and forgotten', () => {
    const costs = new Costs()
    costs.note('evil', 250, 0)
    costs.note('kind', 1, 0)
    expect(costs.expect(['kind'], 0, 0)).toBe(1)
    expect(costs.expect(['kind', 'evil'], 0, 0)).toBe(250)
    expect(costs.expect(['evil'], 0, 60_000)).toBeLessThan(1)
    costs.note('evil', 0, 0)
    expect(costs.expect(['evil'], 0, 0)).toBe(125)
  })

  it('is expected of large values whatever is known', () => {
    expect(new Costs().expect([], 16_384_000, 0)).toBe(1_000)
  })
})
