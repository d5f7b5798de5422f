import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hintOf } from '../../../src/core/content.ts'
import {
  codeOf,
  NOW,
  putBinary,
  putJson,
  putSentinel,
  putText,
  RUN,
  SECOND_MS,
} from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

export function resultsConform(open: Open): void {
  describe('results', () => {
    const subject = subjectOf(open)

    it('a result is kept with all that was put, also across a restart', async () => {
      const put = putJson('{"b": [1.0, 12345678901234567890], "a": "\\u0041"}', {
        toolUseId: 'call-1',
        toolName: 'search\0',
        preview: ' {"b": [2]}',
        verbatimLimitChars: 2_345,
      })
      const { result, retried } = await subject.ledger.append(RUN, put, NOW)
      expect(retried).toBe(false)
      expect(result).toEqual({
        key: result.key,
        number: 1,
        evidenceId: 'call-1',
        recallName: 'call-1',
        toolUseId: 'call-1',
        toolName: 'search\0',
        outcome: 'output',
        kind: 'json',
        mediaType: 'application/json',
        totalBytes: put.value.length,
        totalChars: put.plan.view.chars,
        totalLines: 7,
        viewBytes: put.plan.view.bytes,
        sha256: createHash('sha256').update(put.value).digest('hex'),
        view: put.view,
        preview: ' {"b": [2]}',
        hint: 'reference',
        repeats: 1,
        verbatimLimitChars: 2_345,
        createdAt: NOW,
      })
      await subject.reopen()
      expect(await subject.ledger.findResult(RUN, { number: 1 })).toEqual(result)
      expect(await subject.ledger.findResult(RUN, { recall: 'call-1' })).toEqual(result)
    })

    it('a binary has no view to count', async () => {
      const result = await subject.keep(putBinary(Buffer.from([0, 255, 1])))
      expect(result).toMatchObject({
        totalBytes: 3,
        totalChars: null,
        totalLines: null,
        viewBytes: 0,
      })
      expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({
        keptBytes: 3,
        producedChars: 0,
      })
    })

    it('handles follow the order of the puts, and go on after a restart', async () => {
      const { ledger } = subject
      const kept = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) => ledger.append(RUN, putText(text), NOW)),
      )
      expect(kept.map(({ result }) => result.number)).toEqual([1, 2, 3, 4])
      await subject.reopen()
      expect((await subject.keep(putText('e'))).number).toBe(5)
    })

    it('the totals of a run count characters, not UTF-16 units', async () => {
      await subject.keep(putText('\u{1f600}é\n'))
      const preview = await subject.keep(putJson('[1]', { preview: ' \u{1f600}' }))
      await subject.keep(putSentinel('suspension', 'wait for me'))
      const names = { number: 2, recallName: preview.recallName, repeats: 1 }
      const shown = `r2 \u{1f600}${hintOf('reference', names)}`
      const run = await subject.ledger.findRun(RUN, NOW)
      expect(run).toMatchObject({ results: 3, keptBytes: 7 + 3 + 28 })
      expect(run?.producedChars).toBe(3 + '[\n  1\n]'.length + 'wait for me'.length)
      expect(run?.shownChars).toBe(3 + [...shown].length)
    })

    it('a content counts as it is shown, with the names that were drawn', async () => {
      const first = await shownBy(putSentinel('failure', 'no such file'))
      expect(first).toBe('no such file'.length)
      const long = await shownBy(putText('x', { content: { rendering: 'none' } }))
      expect(long).toBe(0)
      const hinted = putJson('[1]', { toolUseId: 'id"q', hint: 'recall' })
      expect(await shownBy(hinted)).toBe(
        'r3 (a preview)\n[recall {"id": "id\\"q"} returns it whole]'.length,
      )
    })

    it('results page in the order of their handles', async () => {
      for (let n = 1; n <= 12; n++) await subject.keep(putText(`text ${n}`))
      const first = await subject.ledger.listResults(RUN, { limit: 9 })
      expect(first.items.map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
      const second = await subject.ledger.listResults(RUN, { limit: 3, after: first.next ?? '' })
      expect(second.items.map(({ number }) => number)).toEqual([10, 11, 12])
      expect(second.next).toBeNull()
      expect(await codeOf(subject.ledger.listResults(RUN, { limit: 3, after: 'x' }))).toBe(
        'invalid_request',
      )
    })

    it('results of one tool use id page alone', async () => {
      const ids = ['a', 'b', 'a', 'a~2', '', 'a']
      for (const [n, toolUseId] of ids.entries())
        await subject.keep(putText(`text ${n}`, { toolUseId }))
      const numbers = async (toolUseId: string, limit: number, after?: string) => {
        const { items, next } = await subject.ledger.listResults(RUN, { limit, toolUseId, after })
        return { numbers: items.map(({ number }) => number), next }
      }
      const first = await numbers('a', 2)
      expect(first.numbers).toEqual([1, 3])
      expect(await numbers('a', 2, first.next ?? '')).toEqual({ numbers: [6], next: null })
      expect((await numbers('', 9)).numbers).toEqual([5])
      expect((await numbers('c', 9)).numbers).toEqual([])
    })

    it('a failure counts its repeats until an output comes, and not over a suspension', async () => {
      const repeats = async (put: Parameters<typeof subject.keep>[0]) =>
        (await subject.keep(put)).repeats
      expect(await repeats(putSentinel('failure', 'x'))).toBe(1)
      expect(await repeats(putSentinel('failure', 'x'))).toBe(2)
      expect(await repeats(putSentinel('suspension', 'x'))).toBe(1)
      await subject.reopen()
      expect(await repeats(putSentinel('failure', 'x'))).toBe(3)
      expect(await repeats(putSentinel('failure', 'y'))).toBe(1)
      expect(await repeats(putSentinel('failure', 'x'))).toBe(1)
      expect(await repeats(putText('x'))).toBe(1)
      expect(await repeats(putSentinel('failure', 'x'))).toBe(1)
    })

    it('a put counts as a request of its run', async () => {
      await subject.keep(putText('a'))
      await subject.keep(putText('b'), { now: NOW + SECOND_MS })
      await subject.keep(putText('c'), { now: NOW })
      expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({
        createdAt: NOW,
        lastRequestAt: NOW + SECOND_MS,
      })
    })

    async function shownBy(put: Parameters<typeof subject.keep>[0]): Promise<number> {
      const before = (await subject.ledger.findRun(RUN, NOW))?.shownChars ?? 0
      await subject.keep(put)
      return ((await subject.ledger.findRun(RUN, NOW))?.shownChars ?? 0) - before
    }
  })
}
