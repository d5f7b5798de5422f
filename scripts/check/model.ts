/**
 * Sequences of calls, restarts and kills, as many as wanted, beside a model of plain arrays: `npm run check:model`, with
 * `--sequences 50 --seed 1` unless said otherwise. Exits 1 with the smallest sequence that the service answers otherwise.
 */

import { modelSequences } from '../../test/model/sequences.ts'
import { scriptOptions } from '../options.ts'

const TELL_EVERY = 10

const { numbers: values } = scriptOptions({
  command: 'npm run check:model --',
  does: 'Sequences of calls, restarts and kills beside a plain model.',
  numbers: {
    sequences: [50, 'how many'],
    seed: [1, 'of the first'],
  },
})

try {
  await modelSequences({
    sequences: values.sequences,
    seed: values.seed,
    onSequence: (done) => {
      if (done % TELL_EVERY === 0) console.log(`${done} sequences as the model has them`)
    },
  })
  console.log('ok')
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
