import { describe, expect, it } from 'vitest'
import { NOW, putSentinel, putText, RUN } from '../../support/ledger.ts'
import type { Open } from '../conformance.ts'
import { subjectOf } from './setup.ts'

const LONG = 'é'.repeat(40)

export function namesConform(open: Open): void {
  describe('names', () => {
    const subject = subjectOf(open)
    let texts = 0
    /** Keeps another text under the id. */
    const under = (toolUseId: string) => subject.keep(putText(`text ${++texts}`, { toolUseId }))
    const recall = async (id: string) =>
      (await subject.ledger.findResult(RUN, { recall: id }))?.number

    it('a result is called by its tool use id, or by its handle without one', async () => {
      expect(await under('call')).toMatchObject({ evidenceId: 'call', recallName: 'call' })
      expect(await under('')).toMatchObject({ evidenceId: 'r2', recallName: 'r2' })
    })

    it('an id that is taken gets the next free number after it', async () => {
      await under('call')
      await under('call~3')
      const drawn = []
      for (let n = 0; n < 3; n++) drawn.push((await under('call')).evidenceId)
      expect(drawn).toEqual(['call~2', 'call~4', 'call~5'])
      await subject.reopen()
      expect((await under('call')).evidenceId).toBe('call~6')
    })

    it('ids are told apart by their bytes', async () => {
      const ids = ['a', 'A', 'a ', 'a\0', 'a\0b', '\u00e9', 'e\u0301', '\u{1f600}']
      for (const id of ids) expect((await under(id)).evidenceId).toBe(id)
      for (const [index, id] of ids.entries()) expect(await recall(id)).toBe(index + 1)
      expect(await recall('\0')).toBeUndefined()
    })

    it('recall takes a handle where no evidence id equals it', async () => {
      await under('call')
      await under('r4')
      expect(await recall('r1')).toBe(1)
      expect(await recall('$r1')).toBe(1)
      expect(await recall('r4')).toBe(2)
      expect(await recall('$r4')).toBeUndefined()
      expect(await recall('r01')).toBeUndefined()
      expect(await recall('r9')).toBeUndefined()
    })

    it('an id that names an existing handle is taken', async () => {
      await under('call')
      expect((await under('r1')).evidenceId).toBe('r1~2')
      expect((await under('$r1')).evidenceId).toBe('$r1~2')
      expect((await under('r9')).evidenceId).toBe('r9')
    })

    it('a handle that is taken as an id gets a number after it', async () => {
      await under('r2')
      expect(await under('')).toMatchObject({ number: 2, evidenceId: 'r2~2', recallName: 'r2~2' })
    })

    it('a long id is recalled by handle, or by whatever still names it', async () => {
      const exact = 'x'.repeat(64)
      expect((await under(exact)).recallName).toBe(exact)
      expect((await under(LONG)).recallName).toBe('r2')
      await under('r4')
      expect((await under(`${LONG}4`)).recallName).toBe('$r4')
      await under('r7')
      await under('$r7')
      expect(await under(`${LONG}7`)).toMatchObject({ number: 7, recallName: `${LONG}7` })
    })

    it('a later result takes the id of a suspension, which moves', async () => {
      const suspended = await subject.keep(putSentinel('suspension', 'wait', { toolUseId: 'call' }))
      expect(suspended.evidenceId).toBe('call')
      const output = await under('call')
      expect(output.evidenceId).toBe('call')
      expect(await subject.ledger.findResult(RUN, { number: 1 })).toEqual({
        ...suspended,
        evidenceId: 'call~suspension',
        recallName: 'call~suspension',
      })
      expect(await recall('call')).toBe(2)
      expect(await recall('call~suspension')).toBe(1)
      expect((await under('call')).evidenceId).toBe('call~2')
    })

    it('one suspension after another moves, each to a name of its own', async () => {
      await under('call~suspension~2')
      for (const reason of ['first', 'second', 'third']) {
        await subject.keep(putSentinel('suspension', reason, { toolUseId: 'call' }))
      }
      await under('call')
      const ids = (await subject.ledger.listResults(RUN, { limit: 9 })).items.map(
        ({ evidenceId }) => evidenceId,
      )
      expect(ids).toEqual([
        'call~suspension~2',
        'call~suspension',
        'call~suspension~3',
        'call~suspension~4',
        'call',
      ])
    })

    it('a suspension under a long id moves to a name by its handle', async () => {
      await subject.keep(putSentinel('suspension', 'wait', { toolUseId: LONG }))
      await under(LONG)
      expect(await subject.ledger.findResult(RUN, { number: 1 })).toMatchObject({
        evidenceId: `${LONG}~suspension`,
        recallName: 'r1',
      })
    })

    it('a suspension without an id keeps its handle to itself', async () => {
      await subject.keep(putSentinel('suspension', 'wait'))
      expect((await under('r1')).evidenceId).toBe('r1~2')
      expect(await recall('r1')).toBe(1)
    })

    it('a purge frees the names, but not the numbers', async () => {
      for (let n = 0; n < 4; n++) await under('call')
      await subject.ledger.endRun(RUN, { purge: true }, NOW)
      expect(await under('call')).toMatchObject({ number: 5, evidenceId: 'call' })
      expect(await under('call')).toMatchObject({ number: 6, evidenceId: 'call~2' })
      expect((await under('r1')).evidenceId).toBe('r1')
    })
  })
}
