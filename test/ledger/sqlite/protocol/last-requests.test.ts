import { describe, expect, it } from 'vitest'
import { SentTouches } from '../../../../src/ledger/sqlite/protocol/last-requests.ts'

describe('touches on their way to the writer', () => {
  it('are sent once, and read until they are known to be written', () => {
    const touches = new SentTouches()
    touches.note(1, 10)
    touches.note(2, 20)
    const sent = touches.take()
    expect(sent).toEqual([
      [1, 10],
      [2, 20],
    ])
    expect(touches.take()).toEqual([])
    touches.received(sent, { written: false })
    expect([touches.at(1), touches.at(2)]).toEqual([10, 20])
    touches.received([], { written: true })
    expect([touches.at(1), touches.at(2)]).toEqual([0, 0])
  })

  it('that came since are not taken for written', () => {
    const touches = new SentTouches()
    touches.note(1, 10)
    const sent = touches.take()
    touches.note(1, 11)
    touches.note(1, 9)
    touches.received(sent, { written: true })
    expect(touches.at(1)).toBe(11)
    const again = touches.take()
    expect(again).toEqual([[1, 11]])
    touches.received(again, { written: true })
    expect(touches.at(1)).toBe(0)
  })

  it('are many until they are written, sent or not, and bounded', () => {
    const touches = new SentTouches()
    for (let key = 0; key < 30_000; key++) touches.note(key, 1)
    expect(touches.take()).toHaveLength(20_000)
    expect([touches.at(19_999), touches.at(20_000)]).toEqual([1, 0])
    expect(touches.areMany).toBe(true)
    touches.note(5, 2)
    const rest = Array.from({ length: 20_000 }, (_, key) => [key, 1] as const)
    touches.received(rest, { written: true })
    expect([touches.areMany, touches.at(5), touches.at(6)]).toEqual([false, 2, 0])
  })
})
