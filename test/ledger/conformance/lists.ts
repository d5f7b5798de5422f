import { describe, expect, it } from 'vitest'
import type { RunsQuery } from '../../../src/ledger/lists.ts'
import {
  codeOf,
  NOW,
  POLICY,
  putBinary,
  putJson,
  putSentinel,
  putText,
  RUN,
  SECOND_MS,
} from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { type Subject, subjectOf } from './setup.ts'

type Query = Omit<RunsQuery, 'limit'> & { readonly limit?: number }

/** The ids of all pages, each page an item. */
async function pagesOf(
  { ledger }: Subject,
  query: Query,
  now = NOW,
): Promise<readonly (readonly string[])[]> {
  const pages: (readonly string[])[] = []
  let after: string | null = null
  do {
    const asked = { limit: 100, ...query, ...(after === null ? {} : { after }) }
    const page = await ledger.listRuns('', asked, now)
    pages.push(page.items.map(({ id }) => id))
    after = page.next
  } while (after !== null)
  return pages
}

export function listsConform(open: Open): void {
  describe('lists of runs', () => {
    const subject = subjectOf(open)
    const opened = (run: string, now: number) =>
      subject.ledger.openRun({ tenant: '', run }, {}, now)

    it('page in the order of a time, either way, ties in the order of the ids', async () => {
      const { ledger } = subject
      await opened('c', NOW + 1)
      await opened('a', NOW + 3)
      for (const run of ['b2', 'b1', 'b\u{ff5e}', 'b\u{1f600}']) await opened(run, NOW + 2)
      const order = ['c', 'b1', 'b2', 'b\u{ff5e}', 'b\u{1f600}', 'a']
      for (const limit of [1, 2, 6]) {
        const up = await pagesOf(subject, { order: 'created_at', limit })
        expect(up.flat()).toEqual(order)
        expect(up.length).toBe(6 / limit)
        const down = await pagesOf(subject, { order: 'created_at', desc: true, limit })
        expect(down.flat()).toEqual(order.toReversed())
      }
      const ids = await pagesOf(subject, { desc: true, limit: 2 })
      expect(ids).toEqual([
        ['c', 'b\u{1f600}'],
        ['b\u{ff5e}', 'b2'],
        ['b1', 'a'],
      ])
      const asked = { limit: 1, order: 'created_at', after: 'c' } as const
      expect(await codeOf(ledger.listRuns('', asked, NOW))).toBe('invalid_request')
    })

    it('go by the last request, also by one that was only noted', async () => {
      for (const [n, run] of ['a', 'b', 'c'].entries()) await opened(run, NOW + n)
      subject.ledger.touch({ tenant: '', run: 'a' }, NOW + 10)
      const order = 'last_request_at'
      expect(await pagesOf(subject, { order }, NOW + 10)).toEqual([['b', 'c', 'a']])
      expect(await pagesOf(subject, { order, desc: true, limit: 1 }, NOW + 10)).toEqual([
        ['a'],
        ['c'],
        ['b'],
      ])
    })

    it('a run that stays as it is is listed once while others come and go', async () => {
      const { ledger } = subject
      for (const [n, run] of ['a', 'c', 'e', 'g'].entries()) await opened(run, NOW + n)
      for (const order of ['run_id', 'created_at'] as const) {
        const first = await ledger.listRuns('', { order, limit: 2 }, NOW)
        expect(first.items.map(({ id }) => id)).toEqual(['a', 'c'])
        await ledger.endRun({ tenant: '', run: 'c' }, { purge: true }, NOW)
        const rest = await ledger.listRuns('', { order, limit: 9, after: `${first.next}` }, NOW)
        expect(rest.items.map(({ id }) => id)).toEqual(['e', 'g'])
        await opened('c', NOW + 1)
      }
    })

    it('filter by the state that time has brought, and by prefix', async () => {
      const { ledger } = subject
      const ttl = POLICY.defaultTtlSeconds * SECOND_MS
      for (const run of ['x1', 'x2', 'y1', 'y2', 'z']) await opened(run, NOW)
      await ledger.endRun({ tenant: '', run: 'y1' }, { purge: false }, NOW)
      await opened('x2', NOW + ttl)
      await opened('y2', NOW + ttl)
      const later = NOW + ttl + 1
      const found = async (query: Query) => (await pagesOf(subject, query, later)).flat()
      expect(await found({ state: 'open' })).toEqual(['x2', 'y2'])
      expect(await found({ state: 'expired' })).toEqual(['x1', 'z'])
      expect(await found({ state: 'ended' })).toEqual(['y1'])
      expect(await found({ state: 'evicted' })).toEqual([])
      for (const order of ['run_id', 'created_at'] as const) {
        expect(await found({ order, prefix: 'y', limit: 1 })).toEqual(['y1', 'y2'])
        const desc = { order, desc: true, prefix: 'y', limit: 1 }
        expect(await found(desc)).toEqual(['y2', 'y1'])
        expect(await found({ order, prefix: 'x', state: 'open' })).toEqual(['x2'])
        expect(await found({ order, prefix: 'y1x' })).toEqual([])
      }
    })

    it('a filter finds the last of many, and a page keeps to its bound', async () => {
      const runs = Array.from({ length: 2_100 }, (_, n) => `r${String(n).padStart(4, '0')}`)
      await Promise.all(runs.map((run) => subject.keep(putText(run), { ref: { tenant: '', run } })))
      await subject.ledger.endRun({ tenant: '', run: 'r2099' }, { purge: false }, NOW)
      expect((await pagesOf(subject, { state: 'ended', limit: 1 })).flat()).toEqual(['r2099'])
      const bound = { maxBytes: 1_000, bytesOf: () => 400 }
      for (const order of ['run_id', 'created_at', 'last_request_at'] as const) {
        const pages = await pagesOf(subject, { order, prefix: 'r000', bound })
        expect(pages.map(({ length }) => length)).toEqual([2, 2, 2, 2, 2])
        expect(pages.flat()).toEqual(runs.slice(0, 10))
        const single = { maxBytes: 1, bytesOf: () => 2 }
        const singles = await pagesOf(subject, { order, prefix: 'r000', bound: single })
        expect(singles.map(({ length }) => length)).toEqual(Array(10).fill(1))
      }
    })
  })

  describe('lists of results', () => {
    const subject = subjectOf(open)

    it('filter by tool, outcome and kind, alone and together, with and without an id', async () => {
      const { ledger } = subject
      await subject.keep(putText('1', { toolName: 'read', toolUseId: 'x' }))
      await subject.keep(putJson('[2]', { toolName: 'read' }))
      await subject.keep(putBinary(Buffer.from('3'), { toolName: 'shot', toolUseId: 'x' }))
      await subject.keep(putSentinel('failure', '4', { toolName: 'read', toolUseId: 'x' }))
      await subject.keep(putSentinel('suspension', '5'))
      const found = async (query: object) => {
        const { items } = await ledger.listResults(RUN, { limit: 9, ...query })
        return items.map(({ number }) => number)
      }
      expect(await found({ toolName: 'read' })).toEqual([1, 2, 4])
      expect(await found({ toolName: 'none' })).toEqual([])
      expect(await found({ outcome: 'output' })).toEqual([1, 2, 3])
      expect(await found({ kind: 'json' })).toEqual([2, 4, 5])
      expect(await found({ toolName: 'read', outcome: 'failure', kind: 'json' })).toEqual([4])
      expect(await found({ toolUseId: 'x', toolName: 'read' })).toEqual([1, 4])
      expect(await found({ toolUseId: '', kind: 'json' })).toEqual([2, 5])
      const first = await ledger.listResults(RUN, { limit: 2, toolName: 'read' })
      expect(first.next).not.toBeNull()
      expect(await found({ toolName: 'read', after: first.next })).toEqual([4])
    })

    it('a filter finds the last of many, and a page keeps to its bound', async () => {
      const puts = Array.from({ length: 2_100 }, (_, n) =>
        putText(`${n}`, { toolUseId: 'x', toolName: n === 2_099 ? 'last' : 'other' }),
      )
      await Promise.all(puts.map((put) => subject.ledger.append(RUN, put, NOW)))
      for (const toolUseId of [undefined, 'x']) {
        const query = { limit: 9, toolUseId, toolName: 'last' }
        const { items, next } = await subject.ledger.listResults(RUN, query)
        expect([items.map(({ number }) => number), next]).toEqual([[2_100], null])
        const bound = { maxBytes: 10, bytesOf: () => 4 }
        const page = await subject.ledger.listResults(RUN, { limit: 9, toolUseId, bound })
        expect([page.items.map(({ number }) => number), page.next]).toEqual([[1, 2], 'r2'])
      }
      expect(await subject.ledger.firstNumbers(RUN, 3)).toEqual([1, 2, 3])
    })
  })
}
