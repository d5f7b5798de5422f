/**
 * Makes system calls of a service fail, cuts the power, and counts the losses:
 * `npm run check:faults`, by default with `--rounds 1` for each cell of the matrix. A cell is a
 * call, a file, the work under way and the end of the service. Each round draws the moment, and
 * whether the system forgets data that it could not write. Needs gcc. Exits 1 when a round lost
 * something.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Ending, powerCut, type Round, type Scenario } from '../../test/e2e/power-cuts.ts'
import { CALLS, compilePowerCut, ERRNO, FILES } from '../../test/support/power-cut.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1' } } })

const BESIDE: readonly Scenario['beside'][] = [[], ['upload'], ['purge'], ['upload', 'purge']]
const ENDINGS: readonly Ending[] = ['cut', 'stop', 'kill']
/** Number of first calls among which the failing one is drawn. */
const MOMENTS = 12
/** More bytes than a small put writes, so that the fault hits an upload. */
const OF_AN_UPLOAD_BYTES = 400_000

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-faults-'))
const library = compilePowerCut(folder)
if (library === undefined) throw new Error('gcc is needed to make a disk that fails')
const below = (n: number): number => Math.floor(Math.random() * n)
const sums = { rounds: 0, faults: 0, acknowledged: 0, lost: 0, reused: 0, unsound: 0 }

for (let n = 0; n < Number(values.rounds); n++) {
  for (const beside of BESIDE) {
    for (const ending of ENDINGS) {
      await one({ failure: undefined, beside, ending })
      for (const call of CALLS) {
        for (const file of FILES) {
          const failure = { call, file, skip: below(MOMENTS), count: 1 + below(3) }
          const errno = call === 'write' && below(2) === 0 ? ERRNO.ENOSPC : ERRNO.EIO
          const least = call === 'sync' && file === 'log' ? below(2) * OF_AN_UPLOAD_BYTES : 0
          const how = { errno, forget: below(2) === 0, leastBytes: least }
          await one({ failure: { ...failure, ...how }, beside, ending })
        }
      }
    }
  }
}
rmSync(folder, { recursive: true })
console.log(`all: ${JSON.stringify(sums)}`)
if (sums.lost + sums.reused + sums.unsound > 0) process.exitCode = 1

async function one(scenario: Scenario): Promise<void> {
  // A folder is only flushed, never written.
  if (scenario.failure?.file === 'folder' && scenario.failure.call !== 'sync') return
  const round = await powerCut(library as string, folder, scenario)
  count(round)
  console.log(JSON.stringify({ ...scenario, ...round }))
}

function count({ acknowledged, lost, reused, sound, failed }: Round): void {
  sums.rounds++
  sums.faults += failed
  sums.acknowledged += acknowledged
  sums.lost += lost
  sums.reused += reused
  sums.unsound += sound ? 0 : 1
}
