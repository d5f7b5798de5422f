import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { ChunkSeek, Upload } from '../../../src/ledger/ledger.ts'
import {
  bytesOf,
  chunksIn,
  chunksOf,
  codeOf,
  NOW,
  POLICY,
  putBinary,
  putText,
  RUN,
  SECOND_MS,
  streamed,
  type TestPut,
} from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

const POLL_MS = 100
const OTHER = { tenant: '', run: 'run-2' }

export function uploadsConform(open: Open): void {
  describe('uploads', () => {
    const subject = subjectOf(open)

    /** Opens an upload and adds the put's chunks, `batch` at a time. */
    async function upload(put: TestPut, { ref = RUN, batch = 3 } = {}): Promise<Upload> {
      const opened = await subject.ledger.openUpload(ref, NOW)
      const chunks = chunksIn(put)
      for (let n = 0; n < chunks.length; n += batch) await opened.add(chunks.slice(n, n + batch))
      return opened
    }
    const large = (line = 'line\r\n'): TestPut => putText(line.repeat(100_000))

    it('a value that came in pieces is as one that was put whole', async () => {
      const puts = [
        putText(''),
        putText('short'),
        large(),
        putBinary(randomBytes(700_000)),
        putText('é\u{1f600}\n'.repeat(80_000), { toolUseId: 'x', toolName: 't' }),
      ]
      for (const put of puts) {
        const { result, retried } = await (await upload(put)).finish(streamed(put), NOW)
        expect(retried).toBe(false)
        const whole = await subject.keep({ ...put, value: Buffer.from(put.value) }, { ref: OTHER })
        expect({ ...result, key: whole.key }).toEqual(whole)
        expect(await subject.ledger.findResult(RUN, { number: result.number })).toEqual(result)
        expect(await chunksOf(subject.ledger, result)).toEqual(
          await chunksOf(subject.ledger, whole),
        )
      }
      const [mine, theirs] = [RUN, OTHER].map((ref) => subject.ledger.findRun(ref, NOW))
      expect({ ...(await mine), id: OTHER.run }).toEqual(await theirs)
      await subject.reopen()
      const { items } = await subject.ledger.listResults(RUN, { limit: 9 })
      for (const [n, result] of items.entries()) {
        expect((await bytesOf(subject.ledger, result)).equals(puts[n]?.value as Buffer)).toBe(true)
      }
    })

    it('nothing of it can be seen before it is finished, and other puts go on', async () => {
      const { ledger } = subject
      const put = large()
      const opened = await upload(put)
      expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
      const other = await subject.keep(putText('meanwhile'))
      const { result } = await opened.finish(streamed(put), NOW)
      expect([other.number, result.number]).toEqual([1, 2])
      const after = await subject.keep(large('after\n'))
      expect((await bytesOf(ledger, result)).equals(put.value)).toBe(true)
      expect((await bytesOf(ledger, after)).toString()).toBe('after\n'.repeat(100_000))
    })

    it('what was added so far can be read, from any place', async () => {
      const put = large()
      const opened = await subject.ledger.openUpload(RUN, NOW)
      const [given, chunks] = [chunksIn(put), chunksIn(put)]
      const read = async (seek: ChunkSeek) => {
        const found = []
        for await (const chunk of opened.chunks(seek)) found.push(chunk)
        return found
      }
      expect(await read({ byte: 0 })).toEqual([])
      await opened.add(given.slice(0, 5))
      expect(await read({ byte: 0 })).toEqual(chunks.slice(0, 5))
      await opened.add(given.slice(5))
      expect(await read({ byte: 150_000 })).toEqual(chunks.slice(2))
      expect(await read({ line: 99_999 })).toEqual(chunks.slice(-1))
      expect(await read({ char: 0 })).toEqual(chunks)
      await opened.finish(streamed(put), NOW)
    })

    it('many at a time keep apart', async () => {
      const puts = Array.from({ length: 12 }, (_, n) => putText(`${n} line\n`.repeat(60_000)))
      const results = await Promise.all(
        puts.map(async (put) => {
          const opened = await upload(put, { batch: 2 })
          return (await opened.finish(streamed(put), NOW)).result
        }),
      )
      expect(results.map(({ number }) => number).sort((a, b) => a - b)).toEqual(
        puts.map((_, n) => n + 1),
      )
      for (const [n, result] of results.entries()) {
        expect((await bytesOf(subject.ledger, result)).equals(puts[n]?.value as Buffer)).toBe(true)
      }
    })

    it('a retry is found, and what it brought is not kept', async () => {
      const put = { ...large(), toolUseId: 'x' }
      const first = await subject.keep({ ...put, value: Buffer.from(put.value) })
      const again = await (await upload(put)).finish(streamed(put), NOW)
      expect(again).toEqual({ result: first, retried: true })
      expect(await subject.ledger.findRun(RUN, NOW)).toMatchObject({ results: 1 })
      const other = await (await upload(put)).finish({ ...streamed(put), idempotencyKey: 'k' }, NOW)
      expect(other.result.evidenceId).toBe('x~2')
    })

    it('one that is aborted leaves nothing, at whatever moment', async () => {
      const { ledger } = subject
      const put = large()
      await (await ledger.openUpload(RUN, NOW)).abort()
      const opened = await upload(put)
      await opened.abort()
      await opened.abort()
      expect(await codeOf(opened.add(chunksIn(put)))).toBe('internal_error')
      expect(await codeOf(opened.finish(streamed(put), NOW))).toBe('internal_error')
      expect(await ledger.findRun(RUN, NOW)).toBeUndefined()
      const running = await ledger.openUpload(RUN, NOW)
      await Promise.all([running.add(chunksIn(put)), running.abort()])
      const finished = await upload(put)
      const { result } = await finished.finish(streamed(put), NOW)
      await finished.abort()
      expect(result.number).toBe(1)
      expect((await bytesOf(ledger, result)).equals(put.value)).toBe(true)
    })

    it('is refused at its beginning as a put would be', async () => {
      await subject.reopen({ maxRuns: 2, maxResultsPerRun: 1 })
      const { ledger } = subject
      await subject.keep(putText('x'))
      expect(await codeOf(ledger.openUpload(RUN, NOW))).toBe('over_limit')
      await ledger.openRun(OTHER, {}, NOW)
      expect(await codeOf(ledger.openUpload({ tenant: '', run: 'run-3' }, NOW))).toBe('over_limit')
      const late = NOW + (POLICY.defaultTtlSeconds + 1) * SECOND_MS
      expect(await codeOf(ledger.openUpload(RUN, late))).toBe('expired')
      await ledger.endRun(RUN, { purge: false }, NOW)
      expect(await codeOf(ledger.openUpload(RUN, NOW))).toBe('ended')
    })

    it('so many are under way at a time, and each that ends makes room', async () => {
      const opened: Upload[] = []
      const more = async (): Promise<unknown> => {
        try {
          opened.push(await subject.ledger.openUpload(RUN, NOW))
          return undefined
        } catch (error) {
          return error
        }
      }
      let refusal = await more()
      while (refusal === undefined) refusal = await more()
      expect(refusal).toMatchObject({ code: 'overloaded', facts: { limit: 'uploads', value: 64 } })
      const put = putText('abc')
      await opened[0]?.abort()
      expect(await more()).toBeUndefined()
      await opened[1]?.add(chunksIn(put))
      await opened[1]?.finish(streamed(put), NOW)
      expect(await more()).toBeUndefined()
      expect(await more()).toMatchObject({ code: 'overloaded' })
    })

    it('the one that nothing came of for longest makes room for another, after a while', async () => {
      const { ledger } = subject
      const put = putText('abc')
      const opened = await Promise.all(
        Array.from({ length: 64 }, () => ledger.openUpload(RUN, NOW)),
      )
      await opened[0]?.add(chunksIn(put))
      let code = await codeOf(ledger.openUpload(OTHER, NOW))
      while (code !== undefined) {
        expect(code).toBe('overloaded')
        await sleep(POLL_MS)
        code = await codeOf(ledger.openUpload(OTHER, NOW))
      }
      await opened[1]?.add(chunksIn(put))
      expect(await opened[1]?.add([]).catch((error: unknown) => error)).toMatchObject({
        code: 'overloaded',
        facts: { limit: 'uploads', value: 64 },
      })
      for (const [n, upload] of opened.entries()) {
        if (n > 1) await upload.add(chunksIn(put))
        if (n !== 1) expect((await upload.finish(streamed(put), NOW)).retried).toBe(false)
      }
    })

    it('the bytes of a run count while they come, those of several together', async () => {
      await subject.reopen({ maxBytesPerRun: 1_000_000 })
      const put = large()
      await subject.keep(putText('x'.repeat(300_000)))
      const first = await upload(put)
      const second = await subject.ledger.openUpload(RUN, NOW)
      await second.add(chunksIn(put).slice(0, 1))
      const refused = second.add(chunksIn(put).slice(1)).then(() => second.add([]))
      expect(await refused.catch((error: unknown) => error)).toMatchObject({
        // the first may be the same, or come to nothing
        code: 'overloaded',
        facts: { limit: 'bytes_per_run', value: 1_000_000 },
      })
      await second.abort()
      await subject.keep(putText('x'.repeat(200_000)))
      expect(await codeOf(first.finish(streamed(put), NOW))).toBe('over_limit')
      const run = await subject.ledger.findRun(RUN, NOW)
      expect(run).toMatchObject({ results: 2, keptBytes: 500_000 })
      await subject.keep(putText('x'.repeat(500_000)))
    })

    it('a run that ends or is purged meanwhile refuses it', async () => {
      const { ledger } = subject
      const put = large()
      for (const purge of [false, true]) {
        const ref = { tenant: '', run: `purge ${purge}` }
        await subject.keep(putText('x'), { ref })
        const opened = [await upload(put, { ref }), await upload(put, { ref })]
        await ledger.endRun(ref, { purge }, NOW)
        expect(await codeOf(opened[0]?.finish(streamed(put), NOW) as Promise<unknown>)).toBe(
          'ended',
        )
        const added = opened[1]?.add(chunksIn(put)).then(() => opened[1]?.add([]))
        expect(await codeOf(added as Promise<unknown>)).toBe('ended')
        expect((await ledger.findRun(ref, NOW))?.results).toBe(purge ? undefined : 1)
      }
      const ref = { tenant: '', run: 'purge true' }
      expect((await subject.keep(putText('y'), { ref })).number).toBe(2)
    })

    it('one that was not finished is gone after a restart', async () => {
      const put = large()
      await subject.keep(putText('x'))
      await upload(put)
      await subject.reopen()
      const { result } = await (await upload(put)).finish(streamed(put), NOW)
      expect(result.number).toBe(2)
      expect((await bytesOf(subject.ledger, result)).equals(put.value)).toBe(true)
    })

    it('a value that is not the one added is refused', async () => {
      const put = large()
      const opened = await upload(put)
      const other = { ...streamed(put), totalBytes: put.value.length + 1 }
      await expect(opened.finish(other, NOW)).rejects.toThrow(TypeError)
      const empty = await subject.ledger.openUpload(RUN, NOW)
      const nothing = { ...streamed(put), totalBytes: 0 }
      await expect(empty.finish(nothing, NOW)).rejects.toThrow(TypeError)
      await Promise.all([opened.abort(), empty.abort()])
    })
  })
}
