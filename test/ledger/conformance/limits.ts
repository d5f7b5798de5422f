import { describe, expect, it } from 'vitest'
import { codeOf, NOW, putText, RUN } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

export function limitsConform(open: Open): void {
  describe('limits', () => {
    const subject = subjectOf(open)
    const append = (text: string, toolUseId = '') =>
      subject.ledger.append(RUN, putText(text, { toolUseId }), NOW)

    it('a run holds so many results, and a refused put leaves no trace', async () => {
      await subject.reopen({ maxResultsPerRun: 2 })
      const [first, second, third] = await Promise.allSettled([
        append('a', 'a'),
        append('b', 'b'),
        append('c', 'c'),
      ])
      expect([first?.status, second?.status]).toEqual(['fulfilled', 'fulfilled'])
      expect(third).toMatchObject({
        reason: { code: 'over_limit', facts: { limit: 'results_per_run', value: 2 } },
      })
      expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({ results: 2, keptBytes: 2 })
      expect(await subject.ledger.findResult(RUN, { recall: 'c' })).toBeUndefined()
      expect((await append('a', 'a')).retried).toBe(true)
      await subject.reopen({ maxResultsPerRun: 3 })
      expect((await append('c', 'c')).result.number).toBe(3)
    })

    it('a run holds so many bytes, and a smaller put still fits', async () => {
      await subject.reopen({ maxBytesPerRun: 10 })
      const [first, second, third] = await Promise.allSettled([
        append('12345'),
        append('123456'),
        append('12345'),
      ])
      expect(first).toMatchObject({ value: { result: { number: 1 } } })
      expect(second).toMatchObject({
        reason: { code: 'over_limit', facts: { limit: 'bytes_per_run', value: 10 } },
      })
      expect(third).toMatchObject({ value: { result: { number: 2, evidenceId: 'r2' } } })
    })

    it('a tenant has so many runs, and purged ones do not count', async () => {
      await subject.reopen({ maxRuns: 2 })
      const { ledger } = subject
      const ref = (run: string, tenant = '') => ({ tenant, run })
      await ledger.openRun(ref('a'), {}, NOW)
      await ledger.append(ref('b'), putText('b'), NOW)
      expect(await codeOf(ledger.openRun(ref('c'), {}, NOW))).toBe('over_limit')
      expect(await codeOf(ledger.append(ref('c'), putText('c'), NOW))).toBe('over_limit')
      expect(await ledger.findRun(ref('c'), NOW)).toBeUndefined()
      expect((await ledger.openRun(ref('a'), {}, NOW)).created).toBe(false)
      await ledger.openRun(ref('a', 'other'), {}, NOW)
      await ledger.endRun(ref('a'), { purge: true }, NOW)
      await ledger.endRun(ref('a'), { purge: true }, NOW)
      await ledger.openRun(ref('c'), {}, NOW)
      expect(await codeOf(ledger.openRun(ref('a'), {}, NOW))).toBe('over_limit')
    })
  })
}
