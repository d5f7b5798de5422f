/**
 * Fails calls of a service on its disk, cuts the power, and counts what is missing: `npm run check:faults`, with `--rounds 1` of
 * each cell of the matrix unless said otherwise. A cell is a call, a file, what is under way and how the service ends; the moment
 * and whether the system forgets what it could not write are drawn in each round. Needs gcc. Exits 1 when a round has lost something.
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
/** A fault is drawn among the first of so many calls. */
const MOMENTS = 12
/** More than a small put writes. */
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
  // a folder is only ever flushed
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
