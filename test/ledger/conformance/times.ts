import { describe, expect, it } from 'vitest'
import type { Run } from '../../../src/ledger/ledger.ts'
import { bytesOf, codeOf, NOW, POLICY, putText, RUN, SECOND_MS } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

const TTL_MS = POLICY.defaultTtlSeconds * SECOND_MS
const RETENTION_MS = POLICY.retentionSeconds * SECOND_MS
/** The last moments at which a run that was opened at NOW is open, and is readable. */
const DEADLINE = NOW + TTL_MS
const RETAINED = DEADLINE + RETENTION_MS

export function timesConform(open: Open): void {
  describe('times', () => {
    const subject = subjectOf(open)
    const sweepAll = async (now: number): Promise<void> => {
      while (await subject.ledger.sweep(now));
    }

    it('a run idle for longer than its TTL has expired, swept or not', async () => {
      const { ledger } = subject
      const kept = await subject.keep(putText('abc', { toolUseId: 'x' }))
      expect(await ledger.findRun(RUN, DEADLINE)).toMatchObject({ state: 'open', endedAt: null })
      const expired = { state: 'expired', endedAt: DEADLINE }
      expect(await ledger.findRun(RUN, DEADLINE + 1)).toMatchObject(expired)
      expect((await ledger.listRuns('', { limit: 1 }, DEADLINE + 1)).items).toMatchObject([expired])
      expect(await codeOf(ledger.append(RUN, putText('b'), DEADLINE + 1))).toBe('expired')
      expect(await codeOf(ledger.openRun(RUN, {}, DEADLINE + 1))).toBe('expired')
      await sweepAll(DEADLINE + 9)
      expect(await ledger.findRun(RUN, DEADLINE + 9)).toMatchObject(expired)
      expect(await ledger.findResult(RUN, { recall: 'x' })).toEqual(kept)
      expect((await bytesOf(ledger, kept)).toString()).toBe('abc')
    })

    it('how a run stands is what its row says, whatever came since it was asked for last', async () => {
      const { ledger } = subject
      const standing = async (now: number) => {
        const { id, state, ttlSeconds, verbatimLimitChars } =
          (await ledger.findRun(RUN, now)) ?? ({} as Partial<Run>)
        const stands = await ledger.findStanding(RUN, now)
        expect(stands ?? {}).toMatchObject(
          id === undefined ? {} : { id, state, ttlSeconds, verbatimLimitChars },
        )
        return stands && [stands.state, stands.ttlSeconds, stands.verbatimLimitChars]
      }
      expect(await standing(NOW)).toBeUndefined()
      await subject.keep(putText('abc'))
      const { defaultTtlSeconds: ttl, defaultVerbatimLimitChars: chars } = POLICY
      expect(await standing(NOW)).toEqual(['open', ttl, chars])
      await ledger.openRun(RUN, { verbatimLimitChars: 7 }, NOW)
      expect(await standing(NOW)).toEqual(['open', ttl, 7])
      ledger.touch(RUN, DEADLINE)
      expect(await standing(DEADLINE + 1)).toEqual(['open', ttl, 7])
      await ledger.openRun(RUN, { ttlSeconds: 1 }, DEADLINE + 1)
      expect(await standing(DEADLINE + 1)).toEqual(['open', 1, 7])
      expect(await standing(DEADLINE + 1 + SECOND_MS)).toEqual(['open', 1, 7])
      expect(await standing(DEADLINE + 2 + SECOND_MS)).toEqual(['expired', 1, 7])
      await ledger.endRun(RUN, { purge: true }, DEADLINE)
      expect(await standing(DEADLINE)).toBeUndefined()
      await subject.keep(putText('abc'))
      expect(await standing(NOW)).toEqual(['open', ttl, chars])
      await ledger.endRun(RUN, { purge: false }, NOW + 1)
      expect(await standing(NOW + 1)).toEqual(['ended', ttl, chars])
    })

    it('ending an expired run leaves it expired', async () => {
      await subject.keep(putText('abc'))
      const counts = await subject.ledger.endRun(RUN, { purge: false }, DEADLINE + 1)
      expect(counts).toEqual({ results: 1, keptBytes: 3, erased: null })
      expect(await subject.ledger.findRun(RUN, DEADLINE + 1)).toMatchObject({
        state: 'expired',
        endedAt: DEADLINE,
      })
    })

    it('a TTL of its own counts from the last request', async () => {
      await subject.ledger.openRun(RUN, { ttlSeconds: 1 }, NOW)
      await subject.ledger.openRun(RUN, {}, NOW + SECOND_MS)
      expect(await subject.ledger.findRun(RUN, NOW + 2 * SECOND_MS)).toMatchObject({
        state: 'open',
      })
      expect(await subject.ledger.findRun(RUN, NOW + 2 * SECOND_MS + 1)).toMatchObject({
        state: 'expired',
      })
    })

    it('a touch keeps a run open, also across a restart', async () => {
      await subject.keep(putText('abc'))
      subject.ledger.touch(RUN, NOW + 5)
      expect(await subject.ledger.findRun(RUN, DEADLINE + 5)).toMatchObject({
        state: 'open',
        lastRequestAt: NOW + 5,
      })
      await subject.reopen()
      expect(await subject.ledger.findRun(RUN, DEADLINE + 5)).toMatchObject({ state: 'open' })
      subject.ledger.touch(RUN, NOW + 9)
      await subject.keep(putText('else'), { ref: { tenant: '', run: 'run-2' } })
      expect(await subject.ledger.findRun(RUN, DEADLINE + 9)).toMatchObject({ state: 'open' })
    })

    it('a touch revives nothing', async () => {
      await subject.keep(putText('abc'))
      subject.ledger.touch(RUN, DEADLINE + 1)
      expect(await subject.ledger.findRun(RUN, DEADLINE + 1)).toMatchObject({
        state: 'expired',
        endedAt: DEADLINE,
      })
    })

    it('evidence is evicted when its retention is over, swept or not', async () => {
      const { ledger } = subject
      await ledger.openRun(RUN, { tools: new Map([['t', Buffer.from('{}')]]) }, NOW)
      const kept = await subject.keep(putText('abc', { toolUseId: 'x' }))
      expect(await ledger.findRun(RUN, RETAINED)).toMatchObject({ state: 'expired', tools: ['t'] })
      await expectEvicted(async () => undefined)
      await expectEvicted(() => sweepAll(RETAINED + 1))

      async function expectEvicted(act: () => Promise<void>): Promise<void> {
        await act()
        const run = await ledger.findRun(RUN, RETAINED + 1)
        expect(run).toMatchObject({ state: 'evicted', endedAt: DEADLINE, results: 1, tools: [] })
        expect(await ledger.findResult(RUN, { recall: 'x' })).toBeUndefined()
        expect(await ledger.findResult(RUN, { number: 1 })).toBeUndefined()
        expect((await ledger.listResults(RUN, { limit: 9 })).items).toEqual([])
        expect(await ledger.findTool(RUN, 't')).toBeUndefined()
        expect(await codeOf(bytesOf(ledger, kept))).toBe('evicted')
        expect(await codeOf(ledger.append(RUN, putText('b'), RETAINED + 1))).toBe('evicted')
        expect(await codeOf(ledger.openRun(RUN, {}, RETAINED + 1))).toBe('evicted')
      }
    })

    it('retention of a run that was ended counts from its end', async () => {
      await subject.keep(putText('abc'))
      await subject.ledger.endRun(RUN, { purge: false }, NOW + 7)
      const last = NOW + 7 + RETENTION_MS
      expect(await subject.ledger.findRun(RUN, last)).toMatchObject({ state: 'ended' })
      expect(await subject.ledger.findRun(RUN, last + 1)).toMatchObject({ state: 'evicted' })
    })

    it('an evicted run makes room for another, and can be purged', async () => {
      await subject.reopen({ maxRuns: 1 })
      const { ledger } = subject
      const other = { tenant: '', run: 'run-2' }
      await subject.keep(putText('abc'))
      expect(await codeOf(ledger.openRun(other, {}, NOW))).toBe('over_limit')
      await sweepAll(RETAINED + 1)
      expect((await ledger.openRun(other, {}, RETAINED + 1)).created).toBe(true)
      await ledger.endRun(RUN, { purge: true }, RETAINED + 1)
      expect(await ledger.findRun(RUN, RETAINED + 1)).toBeUndefined()
      expect(await codeOf(ledger.openRun(RUN, {}, RETAINED + 1))).toBe('over_limit')
      await ledger.endRun(other, { purge: true }, RETAINED + 1)
      const next = await subject.keep(putText('abc'), { now: RETAINED + 1 })
      expect(next.number).toBe(2)
    })

    // Fault: names of evicted runs stayed for good and counted in no limit.
    it('the name of an evicted run is kept for a second retention, and its numbers for good', async () => {
      const { ledger } = subject
      const names = async () =>
        (await ledger.listRuns('', { limit: 9 }, NOW)).items.map(({ id }) => id)
      await subject.keep(putText('abc'))
      await sweepAll(RETAINED + 1)
      await sweepAll(RETAINED + RETENTION_MS)
      expect(await ledger.findRun(RUN, NOW)).toMatchObject({ state: 'evicted' })
      expect(await codeOf(ledger.append(RUN, putText('b'), NOW))).toBe('evicted')
      await sweepAll(RETAINED + RETENTION_MS + 1)
      expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
      expect(await names()).toEqual([])
      const { run, created } = await ledger.openRun(RUN, {}, NOW)
      expect([run.results, created]).toEqual([0, true])
      expect((await subject.keep(putText('b'))).number).toBe(2)
    })

    it('runs that come and go leave no more names than two retentions bring', async () => {
      await subject.reopen({ maxRuns: 3 })
      const { ledger } = subject
      const cycle = TTL_MS + RETENTION_MS + 1
      for (let n = 0; n < 6; n++) {
        const now = NOW + n * cycle
        for (let i = 0; i < 3; i++) await ledger.openRun({ tenant: '', run: `${n}-${i}` }, {}, now)
        await sweepAll(now + cycle)
      }
      await sweepAll(NOW + 6 * cycle)
      const { items } = await ledger.listRuns('', { limit: 99 }, NOW)
      expect(items.length).toBeLessThanOrEqual(6)
    })

    it('a run that takes several sweeps to erase counts as one run less', async () => {
      await subject.reopen({ maxRuns: 2 })
      const { ledger } = subject
      const ref = (run: string) => ({ tenant: '', run })
      await ledger.openRun(ref('stays'), { ttlSeconds: 1_000_000 }, NOW)
      const appends = Array.from({ length: 2_500 }, () => ledger.append(RUN, putText('x'), NOW))
      await Promise.all(appends)
      expect(await ledger.sweep(RETAINED + 1)).toBe(true)
      expect(await ledger.findRun(RUN, RETAINED + 1)).toMatchObject({ state: 'evicted' })
      await sweepAll(RETAINED + 1)
      await ledger.openRun(ref('next'), {}, RETAINED + 1)
      expect(await codeOf(ledger.openRun(ref('one too many'), {}, RETAINED + 1))).toBe('over_limit')
    })

    // Fault: one sweep with a clock that was wrong for a minute evicted every run for good.
    it('sweeps evict no more in a minute than they may', async () => {
      await subject.reopen({ maxEvictionsPerMinute: 2 })
      const refs = Array.from({ length: 5 }, (_, n) => ({ tenant: '', run: `run-${n}` }))
      for (const ref of refs) await subject.ledger.append(ref, putText('kept'), NOW)
      const readableBefore = async (): Promise<number> => {
        const runs = await Promise.all(refs.map((ref) => subject.ledger.findRun(ref, NOW)))
        return runs.filter((run) => run?.state !== 'evicted').length
      }
      for (const left of [3, 3]) {
        await sweepAll(RETAINED + 1)
        expect(await readableBefore()).toBe(left)
      }
      await subject.reopen({ maxEvictionsPerMinute: 100 })
      await sweepAll(RETAINED + 1)
      expect(await readableBefore()).toBe(0)
    })

    it('ending a run past its retention evicts nothing', async () => {
      const { ledger } = subject
      await subject.keep(putText('abc'))
      await ledger.endRun(RUN, { purge: false }, RETAINED + 1)
      expect(await ledger.findRun(RUN, NOW)).toMatchObject({ state: 'open' })
    })

    // Fault: a request that came while the clock was years ahead kept its run for as long.
    it('a sweep brings times that lie in the future back to now', async () => {
      const { ledger } = subject
      const later = NOW + 365 * 86_400 * SECOND_MS
      await subject.keep(putText('abc'), { now: later })
      const other = { tenant: '', run: 'ended' }
      await ledger.openRun(other, {}, later)
      await ledger.endRun(other, { purge: false }, later)
      await sweepAll(NOW)
      expect(await ledger.findRun(RUN, NOW)).toMatchObject({ lastRequestAt: NOW, createdAt: NOW })
      expect(await ledger.findRun(RUN, DEADLINE + 1)).toMatchObject({ state: 'expired' })
      expect(await ledger.findRun(other, NOW)).toMatchObject({ state: 'ended', endedAt: NOW })
    })

    it('totals count what can be read', async () => {
      const { ledger } = subject
      const none = { runs: { open: 0, ended: 0, expired: 0 }, results: 0, keptBytes: 0 }
      expect(await ledger.totals()).toEqual({ ...none, oldestOpenAt: null, latestAt: 0 })
      const ref = (run: string) => ({ tenant: run, run })
      for (const [n, run] of ['a', 'b', 'c', 'd'].entries()) {
        await ledger.append(ref(run), putText('abc'), NOW + n)
      }
      await ledger.endRun(ref('a'), { purge: false }, NOW + 5)
      await ledger.endRun(ref('b'), { purge: true }, NOW + 6)
      expect(await ledger.totals()).toEqual({
        runs: { open: 2, ended: 1, expired: 0 },
        results: 3,
        keptBytes: 9,
        oldestOpenAt: NOW + 2,
        latestAt: NOW + 5,
      })
    })

    it('a sweep comes to an end over many runs and large values, and leaves the live ones', async () => {
      const { ledger } = subject
      const ref = (run: string) => ({ tenant: '', run })
      const appends = Array.from({ length: 1_200 }, (_, n) =>
        ledger.append(ref(`idle-${n % 600}`), putText(`text ${n}`), NOW),
      )
      await Promise.all(appends)
      const large = putText('x'.repeat(2_000 * 65_536), { content: { rendering: 'none' } })
      await ledger.append(ref('large'), large, NOW)
      const live = await subject.keep(putText('live'), { now: RETAINED })
      let sweeps = 1
      while (await ledger.sweep(RETAINED + 1)) sweeps++
      expect(sweeps).toBeGreaterThan(2)
      expect((await bytesOf(ledger, live)).toString()).toBe('live')
      const { items } = await ledger.listRuns('', { limit: 1_000 }, RETAINED + 1)
      expect(items.filter(({ state }) => state === 'evicted')).toHaveLength(601)
    })
  })
}
