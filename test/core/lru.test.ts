import { describe, expect, it } from 'vitest'
import { LruCache } from '../../src/core/lru.ts'

describe('LruCache', () => {
  it('drops what was used longest ago', () => {
    const cache = new LruCache<string, number>({ maxEntries: 2, maxWeightBytes: 100 })
    cache.add('a', 1, 1)
    cache.add('b', 2, 1)
    expect(cache.get('a')).toBe(1)
    cache.add('c', 3, 1)
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([1, undefined, 3])
  })

  it('takes giving a key again for a use of it', () => {
    const cache = new LruCache<string, number>({ maxEntries: 2, maxWeightBytes: 100 })
    cache.add('a', 1, 1)
    cache.add('b', 2, 1)
    cache.add('a', 3, 1)
    cache.add('c', 4, 1)
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([3, undefined, 4])
  })

  it('does not keep what is over its bounds alone', () => {
    const cache = new LruCache<string, number>({ maxEntries: 2, maxWeightBytes: 10 })
    cache.add('a', 1, 11)
    expect(cache.size).toBe(0)
    cache.add('b', 2, 10)
    expect(cache.get('b')).toBe(2)
  })

  it('weighs a key that is given again once', () => {
    const cache = new LruCache<string, number>({ maxEntries: 3, maxWeightBytes: 10 })
    cache.add('a', 1, 4)
    cache.add('b', 2, 4)
    cache.add('a', 3, 6)
    expect(['a', 'b'].map((key) => cache.get(key))).toEqual([3, 2])
    cache.clear()
    expect(cache.size).toBe(0)
    cache.add('c', 4, 10)
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, undefined, 4])
  })
})
