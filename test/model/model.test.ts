import { expect, it } from 'vitest'
import { modelSequences } from './sequences.ts'

it('a service says the same of its runs as a model, over any order of calls, restarts and kills', async () => {
  let done = 0
  await modelSequences({
    sequences: 4,
    seed: 20_261_130,
    onSequence: () => {
      done++
    },
  })
  expect(done).toBe(4)
})
