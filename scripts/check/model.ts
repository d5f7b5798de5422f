/**
 * Sequences of calls, restarts and kills, as many as wanted, beside a model of plain arrays: `npm run check:model`, with
 * `--sequences 50 --seed 1` unless said otherwise. Exits 1 with the smallest sequence that the service answers otherwise.
 */
import { parseArgs } from 'node:util'
import { modelSequences } from '../../test/model/sequences.ts'

const TELL_EVERY = 10

const { values } = parseArgs({
  options: {
    sequences: { type: 'string', default: '50' },
    seed: { type: 'string', default: '1' },
  },
})

try {
  await modelSequences({
    sequences: Number(values.sequences),
    seed: Number(values.seed),
    onSequence: (done) => {
      if (done % TELL_EVERY === 0) console.log(`${done} sequences as the model has them`)
    },
  })
  console.log('ok')
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
