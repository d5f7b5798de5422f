// Many sequences of commands against one service and its ledger, each on runs of its own.
import fc from 'fast-check'
import { Model } from '../ledger/model.ts'
import { expectSound } from '../support/kept.ts'
import { commands, expectAll } from './commands.ts'
import type { State } from './state.ts'
import { World } from './world.ts'

export interface SequencesOptions {
  readonly sequences: number
  readonly seed: number
  readonly onSequence?: (done: number) => void
}

/** Throws with the smallest sequence of which the service says otherwise than the model. */
export async function modelSequences(options: SequencesOptions): Promise<void> {
  const { sequences, seed, onSequence } = options
  const world = new World()
  let [begun, done] = [0, 0]
  const property = fc.asyncProperty(commands, async (all) => {
    const state: State = { model: new Model(), puts: new Map(), prefix: `s${begun++}` }
    await fc.asyncModelRun(() => ({ model: state, real: world }), all)
    await expectAll(state, world)
    onSequence?.(++done)
  })
  try {
    await world.start()
    await fc.assert(property, { seed, numRuns: sequences })
    await world.restart()
    expectSound(world.ledger)
  } finally {
    await world.close()
  }
}
