/**
 * Kills a service under load many times and checks its ledger: `npm run check:kill`, by default
 * with `--rounds 50 --writers 16 --round-ms 400`. Exits 1 with the first broken promise. The ledger
 * is then kept, and its path is printed.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KillFigures, killRounds } from '../../test/e2e/killing.ts'
import { scriptOptions } from '../options.ts'

const { numbers: values } = scriptOptions({
  command: 'npm run check:kill --',
  does: 'Kills a service under load, and checks its ledger.',
  numbers: {
    rounds: [50, 'how often'],
    writers: [16, 'clients that put'],
    'round-ms': [400, 'longest time between two kills, in ms'],
  },
})

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-kill-'))
const ledger = join(folder, 'ledger.db')
try {
  const figures = await killRounds({
    ledger,
    rounds: values.rounds,
    writers: values.writers,
    longestRoundMs: values['round-ms'],
    onRound: (soFar) => console.log(told(soFar)),
  })
  console.log(`ok: ${told(figures)}; 0 acknowledged lost, 0 kept by half, integrity_check ok`)
  rmSync(folder, { recursive: true })
} catch (error) {
  console.error(error, `\nthe ledger is ${ledger}`)
  process.exitCode = 1
}

function told({ rounds, acknowledged, keptUnanswered, lostUnanswered }: KillFigures): string {
  return `${rounds} kills, ${acknowledged} results acknowledged, of those under way ${keptUnanswered} kept and ${lostUnanswered} not`
}
