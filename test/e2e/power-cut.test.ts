// Failed writes and flushes of the ledger's disk, each followed by a power cut which drops what was not flushed. See
// `npm run check:faults` for the whole matrix.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { compilePowerCut, ERRNO, type Failure } from '../support/power-cut.ts'
import { powerCut, type Scenario } from './power-cuts.ts'

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-power-'))
afterAll(() => rmSync(folder, { recursive: true }))
const library = compilePowerCut(folder)

const FAILED_FLUSH: Failure = {
  call: 'sync',
  file: 'log',
  skip: 0,
  count: 1,
  errno: ERRNO.EIO,
  forget: false,
  leastBytes: 0,
}
/** More than a small put writes: pieces of an upload are among it. */
const OF_AN_UPLOAD = { ...FAILED_FLUSH, leastBytes: 400_000 }
const NOTHING_LOST = { lost: 0, reused: 0, sound: true }

describe.skipIf(library === undefined)('a disk that fails, and a power cut (needs gcc)', () => {
  const round = async (scenario: Scenario) => {
    const figures = await powerCut(library as string, folder, scenario)
    console.log(JSON.stringify({ ...scenario, ...figures }))
    expect(figures).toMatchObject(NOTHING_LOST)
    return figures
  }

  it.each<[string, Scenario]>([
    // pieces of the upload were held for written: puts that were acknowledged after them were gone
    ['while an upload is under way', { failure: OF_AN_UPLOAD, beside: ['upload'], ending: 'cut' }],
    // the stop copied pages that had never been written: the ledger was malformed for good
    [
      'and a clean stop',
      { failure: { ...OF_AN_UPLOAD, forget: true }, beside: ['upload'], ending: 'stop' },
    ],
    [
      'of the ledger itself, while a purge empties the log',
      { failure: { ...FAILED_FLUSH, file: 'db' }, beside: ['purge'], ending: 'kill' },
    ],
  ])('writes nothing after a failed flush: %s', async (_, scenario) => {
    expect(await round(scenario)).toMatchObject({ failed: 1, ready: 503, fatal: 1 })
  })

  it('goes on after a failed write, which loses nothing', async () => {
    const failure = { ...FAILED_FLUSH, call: 'write', count: 3 } as const
    const figures = await round({ failure, beside: ['upload'], ending: 'cut' })
    expect(figures).toMatchObject({ failed: 3, ready: 200, fatal: 0 })
  })

  it.each<[string, Scenario]>([
    [
      'a power cut without a fault',
      { failure: undefined, beside: ['upload', 'purge'], ending: 'cut' },
    ],
    ['a failed flush with no upload', { failure: FAILED_FLUSH, beside: [], ending: 'cut' }],
  ])('has a control that loses nothing: %s', async (_, scenario) => {
    expect((await round(scenario)).acknowledged).toBeGreaterThan(0)
  })
})
