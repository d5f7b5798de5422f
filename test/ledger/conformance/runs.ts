import { describe, expect, it } from 'vitest'
import type { Format } from '../../../src/ledger/ledger.ts'
import { bytesOf, codeOf, NOW, POLICY, putText, RUN, SECOND_MS } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

const LATER = NOW + SECOND_MS

export function runsConform(open: Open): void {
  describe('runs', () => {
    const subject = subjectOf(open)

    it('a run opens with defaults, and once', async () => {
      const { run, created } = await subject.ledger.openRun(RUN, {}, NOW)
      expect(created).toBe(true)
      expect(run).toEqual({
        id: 'run-1',
        state: 'open',
        format: 'reference',
        ttlSeconds: POLICY.defaultTtlSeconds,
        verbatimLimitChars: POLICY.defaultVerbatimLimitChars,
        createdAt: NOW,
        lastRequestAt: NOW,
        endedAt: null,
        results: 0,
        keptBytes: 0,
        producedChars: 0,
        shownChars: 0,
        toolCount: 0,
        toolBytes: 0,
        tools: [],
      })
      const again = await subject.ledger.openRun(RUN, {}, LATER)
      expect(again).toEqual({ run: { ...run, lastRequestAt: LATER }, created: false })
    })

    it('a run that never was is undefined, and finding creates nothing', async () => {
      const { ledger } = subject
      expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
      expect(await ledger.findResult(RUN, { number: 1 })).toBeUndefined()
      expect(await ledger.findTool(RUN, 'search')).toBeUndefined()
      expect(await ledger.listResults(RUN, { limit: 9 })).toEqual({ items: [], next: null })
      const nothing = { results: 0, keptBytes: 0 }
      const ended = await ledger.endRun(RUN, { purge: false }, NOW)
      expect(ended).toEqual({ ...nothing, erased: null })
      const purged = await ledger.endRun(RUN, { purge: true }, NOW)
      expect(purged).toEqual({ ...nothing, erased: 'done' })
      ledger.touch(RUN, NOW)
      expect((await ledger.listRuns('', { limit: 9 }, NOW)).items).toEqual([])
    })

    it('a setting that is absent stays, and null brings the default back', async () => {
      const { ledger } = subject
      await ledger.openRun(RUN, { ttlSeconds: 5, verbatimLimitChars: 2_000 }, NOW)
      const { run: kept } = await ledger.openRun(RUN, { ttlSeconds: 7 }, NOW)
      expect(kept).toMatchObject({ ttlSeconds: 7, verbatimLimitChars: 2_000 })
      const { run } = await ledger.openRun(RUN, { ttlSeconds: null, verbatimLimitChars: null }, NOW)
      expect(run).toMatchObject({ ttlSeconds: 600, verbatimLimitChars: 30_000 })
    })

    it('the format of an open run is fixed', async () => {
      const { ledger } = subject
      await ledger.openRun(RUN, { format: 'reference' }, NOW)
      await ledger.openRun(RUN, { format: 'reference', ttlSeconds: 9 }, NOW)
      // there is one format so far; what it may be is not the ledger's to say
      const other = { format: 'other' as Format, ttlSeconds: 7 }
      expect(await codeOf(ledger.openRun(RUN, other, NOW))).toBe('format_fixed')
      expect(await ledger.findRun(RUN, NOW)).toMatchObject({ format: 'reference', ttlSeconds: 9 })
    })

    it('tools merge by name, null removes one, and a schema keeps its bytes', async () => {
      const { ledger } = subject
      const schema = Buffer.from('{"type" : "object", "x": 1.0}')
      await ledger.openRun(
        RUN,
        {
          tools: new Map([
            ['b', schema],
            ['__proto__', schema],
          ]),
        },
        NOW,
      )
      const { run } = await ledger.openRun(
        RUN,
        {
          tools: new Map([
            ['a', schema],
            ['b', null],
          ]),
        },
        NOW,
      )
      expect(run.tools).toEqual(['__proto__', 'a'])
      expect(await ledger.findTool(RUN, '__proto__')).toEqual(schema)
      expect(await ledger.findTool(RUN, 'b')).toBeUndefined()
      await ledger.openRun(RUN, { tools: new Map([['a', Buffer.from('true')]]) }, NOW)
      expect(await ledger.findTool(RUN, 'a')).toEqual(Buffer.from('true'))
    })

    it('runs page in the order of the bytes of their ids', async () => {
      const { ledger } = subject
      for (const run of ['b', 'a', 'B', '\u{ff5e}', '\u{1f600}', 'a\0', 'a\0b']) {
        await ledger.openRun({ tenant: '', run }, {}, NOW)
      }
      const first = await ledger.listRuns('', { limit: 4 }, NOW)
      expect(first.items.map(({ id }) => id)).toEqual(['B', 'a', 'a\0', 'a\0b'])
      expect(first.next).not.toBeNull()
      const second = await ledger.listRuns('', { limit: 4, after: first.next ?? '' }, NOW)
      expect(second.items.map(({ id }) => id)).toEqual(['b', '\u{ff5e}', '\u{1f600}'])
      expect(second.next).toBeNull()
    })

    it('tenants see nothing of each other', async () => {
      const { ledger } = subject
      const other = { tenant: 'b', run: RUN.run }
      const mine = await subject.keep(putText('mine', { toolUseId: 'x' }))
      expect(await ledger.findRun(other, NOW)).toBeUndefined()
      expect(await ledger.findResult(other, { recall: 'x' })).toBeUndefined()
      expect(await ledger.findResult(other, { number: 1 })).toBeUndefined()
      const theirs = await subject.keep(putText('theirs', { toolUseId: 'x' }), { ref: other })
      expect([theirs.number, theirs.evidenceId]).toEqual([1, 'x'])
      await ledger.endRun(other, { purge: true }, NOW)
      expect((await bytesOf(ledger, mine)).toString()).toBe('mine')
      expect((await ledger.listRuns('b', { limit: 9 }, NOW)).items).toEqual([])
    })

    it('an ended run keeps its evidence, refuses puts, and ends once', async () => {
      const { ledger } = subject
      const kept = await subject.keep(putText('abc', { toolUseId: 'x' }))
      const counts = { results: 1, keptBytes: 3, erased: null }
      expect(await ledger.endRun(RUN, { purge: false }, NOW + 5)).toEqual(counts)
      expect(await ledger.endRun(RUN, { purge: false }, LATER)).toEqual(counts)
      expect(await ledger.findRun(RUN, LATER)).toMatchObject({ state: 'ended', endedAt: NOW + 5 })
      expect(await ledger.findResult(RUN, { recall: 'x' })).toEqual(kept)
      expect((await ledger.listResults(RUN, { limit: 9 })).items).toEqual([kept])
      expect((await bytesOf(ledger, kept)).toString()).toBe('abc')
      expect(await codeOf(ledger.append(RUN, putText('abc', { toolUseId: 'x' }), LATER))).toBe(
        'ended',
      )
      expect(await codeOf(ledger.openRun(RUN, {}, LATER))).toBe('ended')
    })

    it('a purged run is as one that never was, but for its numbering', async () => {
      const { ledger } = subject
      const schema = Buffer.from('{}')
      await ledger.openRun(RUN, { ttlSeconds: 5, tools: new Map([['t', schema]]) }, NOW)
      const kept = await subject.keep(putText('abc', { toolUseId: 'x', idempotencyKey: 'k' }))
      await subject.keep(putText('de'))
      const purged = await ledger.endRun(RUN, { purge: true }, NOW)
      expect(purged).toEqual({ results: 2, keptBytes: 5, erased: 'done' })
      expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
      expect(await ledger.findResult(RUN, { recall: 'x' })).toBeUndefined()
      expect(await ledger.findTool(RUN, 't')).toBeUndefined()
      expect((await ledger.listRuns('', { limit: 9 }, NOW)).items).toEqual([])
      expect(await codeOf(bytesOf(ledger, kept))).toBe('evicted')
      const again = await ledger.endRun(RUN, { purge: true }, NOW)
      expect(again).toEqual({ results: 0, keptBytes: 0, erased: 'done' })

      await subject.reopen()
      const { run, created } = await subject.ledger.openRun(RUN, {}, LATER)
      expect(created).toBe(true)
      expect(run).toMatchObject({
        ttlSeconds: 600,
        results: 0,
        keptBytes: 0,
        tools: [],
        createdAt: LATER,
      })
      const next = await subject.keep(putText('abc', { toolUseId: 'x', idempotencyKey: 'k' }))
      expect([next.number, next.evidenceId]).toEqual([3, 'x'])
    })

    it('an ended run can be purged, and a put opens it again', async () => {
      await subject.keep(putText('abc'))
      await subject.ledger.endRun(RUN, { purge: false }, NOW)
      await subject.ledger.endRun(RUN, { purge: true }, NOW)
      expect((await subject.keep(putText('abc'))).number).toBe(2)
      expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({ state: 'open', endedAt: null })
    })

    it("a reader of a value that is purged meanwhile is told, and gets no other run's bytes", async () => {
      const { ledger } = subject
      const large = await subject.keep(putText('x'.repeat(2_000_000)))
      const reader = ledger.chunks(large, { byte: 0 })[Symbol.asyncIterator]()
      await reader.next()
      await ledger.endRun(RUN, { purge: true }, NOW)
      await subject.keep(putText('y'.repeat(2_000_000)), { ref: { tenant: 'b', run: 'other' } })
      const read = async (): Promise<void> => {
        for (let item = await reader.next(); !item.done; item = await reader.next()) {
          expect(item.value.bytes.includes('y')).toBe(false)
        }
      }
      expect(await codeOf(read())).toBe('evicted')
      expect(await codeOf(bytesOf(ledger, large))).toBe('evicted')
    })

    it('answers a ping, and after close every call rejects', async () => {
      const { ledger } = subject
      await ledger.ping()
      const kept = await subject.keep(putText('abc'))
      const queued = ledger.append(RUN, putText('queued'), NOW)
      await Promise.all([ledger.close(), ledger.close()])
      expect((await queued).result.number).toBe(2)
      const calls = [
        ledger.ping(),
        ledger.openRun(RUN, {}, NOW),
        ledger.findRun(RUN, NOW),
        ledger.listRuns('', { limit: 1 }, NOW),
        ledger.endRun(RUN, { purge: true }, NOW),
        ledger.findTool(RUN, 't'),
        ledger.append(RUN, putText('x'), NOW),
        ledger.findResult(RUN, { number: 1 }),
        ledger.listResults(RUN, { limit: 1 }),
        bytesOf(ledger, kept),
        ledger.sweep(NOW),
      ]
      for (const call of calls) expect(await codeOf(call)).toBe('ledger_unavailable')
      await subject.reopen()
      expect(await subject.ledger.findResult(RUN, { number: 2 })).toBeDefined()
    })
  })
}
