import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turns } from '../../src/http/body/fair-queue.ts'

const LARGE_BYTES = 65_537

it('large work is done in its order, one piece in a turn', async () => {
  const turns = new Turns()
  const done: number[] = []
  for (let n = 0; n < 3; n++) turns.run(LARGE_BYTES, () => void done.push(n))
  expect(done).toEqual([])
  for (let n = 1; n <= 3; n++) {
    await nextTurn()
    expect(done).toHaveLength(n)
  }
  turns.run(LARGE_BYTES, () => void done.push(3))
  await nextTurn()
  expect(done).toEqual([0, 1, 2, 3])
})

it('small work shares a turn, up to 64 KiB of it; what it adds comes in another', async () => {
  const turns = new Turns()
  const done: string[] = []
  const run = (name: string, bytes: number) => turns.run(bytes, () => void done.push(name))
  turns.run(30_000, () => run('added', 1))
  run('b', 30_000)
  run('c', 5_536)
  run('d', 1)
  run('e', 100_000)
  const turnsSeen: string[] = []
  for (let n = 0; n < 3; n++) {
    await nextTurn()
    turnsSeen.push(done.splice(0).join(' '))
  }
  expect(turnsSeen).toEqual(['b c', 'd', 'e'])
  await nextTurn()
  expect(done).toEqual(['added'])
})
