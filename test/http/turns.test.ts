import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turns } from '../../src/http/turns.ts'

it('large work is done in its order, one piece in a turn', async () => {
  const turns = new Turns()
  const done: number[] = []
  for (let n = 0; n < 3; n++) turns.run(() => void done.push(n))
  expect(done).toEqual([])
  for (let n = 1; n <= 3; n++) {
    await nextTurn()
    expect(done).toHaveLength(n)
  }
  turns.run(() => void done.push(3))
  await nextTurn()
  expect(done).toEqual([0, 1, 2, 3])
})
