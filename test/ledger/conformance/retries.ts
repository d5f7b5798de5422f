import { describe, expect, it } from 'vitest'
import type { Put, PutNames } from '../../../src/ledger/ledger.ts'
import {
  chunksIn,
  codeOf,
  NOW,
  putBinary,
  putJson,
  putSentinel,
  putText,
  RUN,
  streamed,
  type TestPut,
} from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

export function retriesConform(open: Open): void {
  describe('retries', () => {
    const subject = subjectOf(open)
    const append = (put: Put) => subject.ledger.append(RUN, put, NOW)
    const put = putText('abc', { toolUseId: 'call' })

    const lines = (line: string): TestPut => putText(line.repeat(100_000))

    it('the same put again gives the first result, and counts nothing', async () => {
      const first = await append(put)
      const before = await subject.ledger.findRun(RUN, NOW)
      expect(await append(put)).toEqual({ result: first.result, retried: true })
      await subject.reopen()
      expect(await append(put)).toEqual({ result: first.result, retried: true })
      expect(await subject.ledger.findRun(RUN, NOW)).toEqual(before)
      expect((await append(putText('next'))).result.number).toBe(2)
    })

    it('the same put twice at once is kept once', async () => {
      const [first, second] = await Promise.all([append(put), append(put)])
      expect(first.retried).toBe(false)
      expect(second).toEqual({ result: first.result, retried: true })
    })

    it('other bytes, another outcome or another kind under an id are another result', async () => {
      await append(put)
      const others = [
        putText('abd', { toolUseId: 'call' }),
        putBinary(put.value, { toolUseId: 'call' }),
        putText('abc', { toolUseId: 'call', outcome: 'failure', failureKey: 'k' }),
        putText('abc', { toolUseId: 'call~9' }),
      ]
      for (const other of others) expect((await append(other)).retried).toBe(false)
    })

    it('what is under a numbered id is found by its tool use id', async () => {
      await append(put)
      const other = putText('abd', { toolUseId: 'call' })
      const { result } = await append(other)
      expect(result.evidenceId).toBe('call~2')
      expect(await append(other)).toEqual({ result, retried: true })
    })

    it('a suspension that has moved is still found', async () => {
      const suspension = putSentinel('suspension', 'wait', { toolUseId: 'call' })
      await append(suspension)
      await append(put)
      const { result, retried } = await append(suspension)
      expect([retried, result.evidenceId]).toEqual([true, 'call~suspension'])
    })

    it('without an id nothing is a retry', async () => {
      await append(putText('ok'))
      expect(await append(putText('ok'))).toMatchObject({ retried: false, result: { number: 2 } })
    })

    it('a result is found by the idempotency key of its put, in its run alone', async () => {
      const { result } = await append({ ...put, idempotencyKey: 'k' })
      expect(await subject.ledger.findResult(RUN, { idempotencyKey: 'k' })).toEqual(result)
      for (const idempotencyKey of ['', 'K', 'k\0', 'call', 'r1']) {
        expect(await subject.ledger.findResult(RUN, { idempotencyKey })).toBeUndefined()
      }
      const other = { ...RUN, run: 'other' }
      await subject.ledger.append(other, put, NOW)
      expect(await subject.ledger.findResult(other, { idempotencyKey: 'k' })).toBeUndefined()
    })

    it('an idempotency key alone decides when it is given', async () => {
      const keyed = { ...put, idempotencyKey: 'k\0' }
      const { result } = await append(keyed)
      const other = putJson('[1]', { toolUseId: 'other', idempotencyKey: 'k\0' })
      expect(await append(other)).toEqual({ result, retried: true })
      const next = await append({ ...keyed, idempotencyKey: 'k' })
      expect(next).toMatchObject({ retried: false, result: { evidenceId: 'call~2' } })
      expect(await append(put)).toEqual({ result, retried: true })
      const elsewhere = { tenant: '', run: 'run-2' }
      expect((await subject.ledger.append(elsewhere, keyed, NOW)).retried).toBe(false)
    })

    it('a failure put again does not count as a repeat', async () => {
      const failure = putSentinel('failure', 'x', { toolUseId: 'call' })
      await append(failure)
      expect((await append(failure)).result.repeats).toBe(1)
      const next = putSentinel('failure', 'x', { toolUseId: 'call-2' })
      expect((await append(next)).result.repeats).toBe(2)
    })

    it('a retry of what a full run has is found, by its id or its key, and nothing else is let in', async () => {
      const named = (put: TestPut, { toolUseId, idempotencyKey }: PutNames): TestPut => ({
        ...put,
        toolUseId,
        idempotencyKey,
      })
      const put = named(lines('line\n'), { toolUseId: 'x', idempotencyKey: null })
      const keyed = named(lines('keyed\n'), { toolUseId: 'y', idempotencyKey: 'k' })
      const send = async (again: TestPut, names: PutNames = again) => {
        const opened = await subject.ledger.openUpload(RUN, NOW, names)
        for (const chunk of chunksIn(again)) await opened.add([chunk])
        return opened.finish(streamed(again), NOW)
      }
      const kept = [(await send(put)).result, (await send(keyed)).result]
      for (const policy of [{ maxResultsPerRun: 2 }, { maxBytesPerRun: 1_200_000 }]) {
        await subject.reopen(policy)
        expect(await send(put)).toEqual({ result: kept[0], retried: true })
        expect(await send(keyed)).toEqual({ result: kept[1], retried: true })
        const other = named(lines('other, and longer than those that are kept\n'), keyed)
        expect(await send(other)).toEqual({ result: kept[1], retried: true })
        for (const names of [
          { toolUseId: 'x', idempotencyKey: null },
          { toolUseId: 'x', idempotencyKey: 'other' },
          { toolUseId: 'y', idempotencyKey: null },
          { toolUseId: 'z', idempotencyKey: null },
          { toolUseId: '', idempotencyKey: null },
        ]) {
          expect(await codeOf(send(named(other, names)))).toBe('over_limit')
        }
        const sameSize = named(putText('LINE\r\n'.repeat(100_000)), put)
        expect(await codeOf(send(sameSize))).toBe('over_limit')
        expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({ results: 2 })
      }
    })
  })
}
