/**
 * Compares random sequences of calls, restarts and kills with a model of plain arrays:
 * `npm run check:model`, by default with `--sequences 50 --seed 1`. Exits 1 with the smallest
 * sequence for which the service and the model differ.
 */

import { modelSequences } from '../../test/model/sequences.ts'
import { scriptOptions } from '../options.ts'

const TELL_EVERY = 10

const { numbers: values } = scriptOptions({
  command: 'npm run check:model --',
  does: 'Compares sequences of calls, restarts and kills with a plain model.',
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
