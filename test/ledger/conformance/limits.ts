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

    it('a run has so many tools of so many bytes, counted, and may always remove some', async () => {
      await subject.reopen({ maxToolsPerRun: 2, maxToolBytesPerRun: 20 })
      const { ledger } = subject
      const patched = (tools: Readonly<Record<string, string | null>>) =>
        ledger.openRun(
          RUN,
          {
            tools: new Map(
              Object.entries(tools).map(([name, schema]) => [
                name,
                schema === null ? null : Buffer.from(schema),
              ]),
            ),
          },
          NOW,
        )
      const { run } = await patched({ a: 'true', é: '{}' })
      expect(run).toMatchObject({ toolCount: 2, toolBytes: 9, tools: ['a', 'é'] })
      await expect(patched({ c: '{}' })).rejects.toMatchObject({
        code: 'over_limit',
        facts: { limit: 'tools_per_run', value: 2 },
      })
      expect((await patched({ c: '{}', a: null })).run).toMatchObject({
        toolCount: 2,
        toolBytes: 7,
      })
      await expect(patched({ c: '{"title":"12345678"}' })).rejects.toMatchObject({
        code: 'over_limit',
        facts: { limit: 'tool_bytes_per_run', value: 20 },
      })
      expect(await ledger.findTool(RUN, 'c')).toEqual(Buffer.from('{}'))
      expect(await ledger.findRun(RUN, NOW)).toMatchObject({ toolCount: 2, toolBytes: 7 })
      await subject.reopen({ maxToolsPerRun: 1 })
      const shown = await subject.ledger.findRun(RUN, NOW)
      expect(shown).toMatchObject({ toolCount: 2, tools: ['c'] })
      const removed = await subject.ledger.openRun(RUN, { tools: new Map([['c', null]]) }, NOW)
      expect(removed.run).toMatchObject({ toolCount: 1, toolBytes: 4, tools: ['é'] })
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
