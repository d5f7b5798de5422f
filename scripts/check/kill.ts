/**
 * Kills a service under load as often as wanted and checks what it has kept: `npm run check:kill`, with
 * `--rounds 50 --writers 16 --round-ms 400` unless said otherwise. Exits 1 with the first promise that is broken; the ledger
 * then stays, and is named.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type KillFigures, killRounds } from '../../test/e2e/killing.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '50' },
    writers: { type: 'string', default: '16' },
    'round-ms': { type: 'string', default: '400' },
  },
})

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-kill-'))
const ledger = join(folder, 'ledger.db')
try {
  const figures = await killRounds({
    ledger,
    rounds: Number(values.rounds),
    writers: Number(values.writers),
    longestRoundMs: Number(values['round-ms']),
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
