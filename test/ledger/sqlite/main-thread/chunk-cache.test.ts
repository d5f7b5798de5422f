// What was read lately is served from memory, but never past the life of its run.
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Chunk, Result } from '../../../../src/ledger/ledger.ts'
import { openLedger } from '../../../../src/ledger/open.ts'
import { ChunkCache } from '../../../../src/ledger/sqlite/main-thread/chunk-cache.ts'
import {
  bytesOf,
  chunksOf,
  codeOf,
  NOW,
  POLICY,
  putText,
  RUN,
  SECOND_MS,
  temporaryFolder,
} from '../../../support/ledger.ts'

const chunk = (n: number): Chunk => ({
  firstByte: n * 1000,
  firstLine: 0,
  firstCrlf: 0,
  firstChar: 0,
  state: 0,
  bytes: Buffer.alloc(1000, n),
})

/** A store of chunks that notes what is read from it. */
function store() {
  const loads: string[] = []
  return {
    loads,
    load(first: number, end: number): readonly Chunk[] {
      loads.push(`${first}-${end}`)
      return Array.from({ length: end - first }, (_, i) => chunk(first + i))
    },
  }
}

describe('the cache of chunks', () => {
  it('loads what it does not have, and that once', () => {
    const { loads, load } = store()
    const cache = new ChunkCache(1_000_000)
    expect(cache.read(1, 3, load).map(({ firstByte }) => firstByte)).toEqual([1000, 2000])
    expect(cache.read(1, 5, load).map(({ firstByte }) => firstByte)).toEqual([
      1000, 2000, 3000, 4000,
    ])
    expect(cache.read(2, 5, load)).toHaveLength(3)
    expect(loads).toEqual(['1-3', '3-5'])
    cache.clear()
    cache.read(2, 3, load)
    expect(loads.at(-1)).toBe('2-3')
  })

  it('holds no more than its bytes, and none when there are none to hold', () => {
    const few = store()
    const cache = new ChunkCache(4000)
    for (let key = 1; key <= 20; key++) cache.read(key, key + 1, few.load)
    cache.read(20, 21, few.load)
    expect(few.loads).toHaveLength(20)
    cache.read(1, 2, few.load)
    expect(few.loads).toHaveLength(21)
    const none = store()
    const off = new ChunkCache(0)
    for (let n = 0; n < 2; n++) off.read(1, 2, none.load)
    expect(none.loads).toHaveLength(2)
  })

  it('says when fewer are there than were asked for', () => {
    const cache = new ChunkCache(4000)
    expect(cache.read(1, 3, () => [chunk(1)])).toHaveLength(1)
  })
})

describe.each([0, 10_000_000])('a ledger with a cache of %i bytes', (cacheBytes) => {
  let folder: ReturnType<typeof temporaryFolder>
  let ledger: Awaited<ReturnType<typeof openLedger>>
  let result: Result
  const text = 'a line\n'.repeat(100_000)
  beforeEach(async () => {
    folder = temporaryFolder()
    ledger = await openLedger(join(folder.path, 'ledger.db'), POLICY, { cacheBytes })
    result = (await ledger.append(RUN, putText(text), NOW)).result
    expect((await bytesOf(ledger, result)).toString()).toBe(text)
  })
  afterEach(async () => {
    await ledger.close()
    folder.remove()
  })

  it('gives the same bytes again, from any chunk on', async () => {
    expect((await bytesOf(ledger, result)).toString()).toBe(text)
    const [first] = await chunksOf(ledger, result, { byte: 500_000 })
    expect(first?.bytes.toString()).toBe(
      text.slice(first?.firstByte, (first?.firstByte ?? 0) + (first?.bytes.length ?? 0)),
    )
  })

  it('serves nothing of a purged run, nor gives it for another result', async () => {
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(await codeOf(chunksOf(ledger, result))).toBe('evicted')
    const other = await ledger.append(RUN, putText('b line\n'.repeat(100_000)), NOW)
    expect((await bytesOf(ledger, other.result)).toString()).toBe('b line\n'.repeat(100_000))
  })

  it('stops in the middle of a value whose run is purged, or past its retention', async () => {
    const purged = ledger.chunks(result, { byte: 0 })[Symbol.asyncIterator]()
    await purged.next()
    await ledger.endRun(RUN, { purge: false }, NOW)
    const evicted = ledger.chunks(result, { byte: 0 })[Symbol.asyncIterator]()
    await evicted.next()
    await ledger.findRun(RUN, NOW + (POLICY.retentionSeconds + 1) * SECOND_MS)
    expect(await codeOf(evicted.next())).toBe('evicted')
    await ledger.endRun(RUN, { purge: true }, NOW)
    expect(await codeOf(purged.next())).toBe('evicted')
  })
})
