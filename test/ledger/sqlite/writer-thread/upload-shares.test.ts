// Which upload makes room for another.
import { describe, expect, it } from 'vitest'
import { givingWay, type Share } from '../../../../src/ledger/sqlite/writer-thread/upload-shares.ts'

const NOW = 100_000
const QUIET_BEFORE = NOW - 5_000

const sharesOf = (tenants: string, quietSince = NOW): ReadonlyMap<number, Share> =>
  new Map([...tenants].map((tenant, n) => [n, { tenant, bytes: 100 - n, quietSince }]))
const asked = (tenant: string) => ({ tenant, quietBefore: QUIET_BEFORE })

describe('an upload makes room', () => {
  it('when it has been quiet for longest, and for long enough', () => {
    const shares = new Map(sharesOf('aaa'))
    shares.set(1, { tenant: 'a', bytes: 1, quietSince: QUIET_BEFORE })
    expect(givingWay(shares, asked('a'))).toEqual({ key: 1, why: 'quiet' })
    shares.set(1, { tenant: 'a', bytes: 1, quietSince: QUIET_BEFORE + 1 })
    expect(givingWay(shares, asked('a'))).toBeUndefined()
  })

  it('when its tenant has most, until all have as many', () => {
    expect(givingWay(sharesOf('aaaa'), asked('b'))).toEqual({ key: 3, why: 'share' })
    expect(givingWay(sharesOf('aaab'), asked('b'))).toEqual({ key: 2, why: 'share' })
    expect(givingWay(sharesOf('aabb'), asked('b'))).toBeUndefined()
    expect(givingWay(sharesOf('aabb'), asked('c'))).toMatchObject({ why: 'share' })
    expect(givingWay(sharesOf('abcd'), asked('e'))).toBeUndefined()
    expect(givingWay(sharesOf('aaaa'), asked('a'))).toBeUndefined()
  })
})
