// A log whose end was damaged after the puts in it were acknowledged: SQLite opens it up to there without a word.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { Ledger, RunRef } from '../../src/ledger/ledger.ts'
import type { Notice } from '../../src/ledger/notice.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { Kept } from '../support/kept.ts'
import { NOW, POLICY, putText, RUN, temporaryFolder } from '../support/ledger.ts'
import { startChild } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const KEPT = 6
const OTHER: RunRef = { tenant: 'b', run: 'only at the end' }
const LOG_HEADER_BYTES = 32
const FRAME_BYTES = 24 + 16_384

let copies = 0
/** A ledger as a killed process leaves it: with its log, and with the notes of what it acknowledged. */
async function killed(change: (ledger: string) => void): Promise<string> {
  const path = join(folder.path, `open-${++copies}.db`)
  const left = join(folder.path, `left-${copies}.db`)
  const ledger = await openLedger(path, POLICY)
  for (let n = 1; n <= KEPT; n++) await ledger.append(RUN, putText(`text ${n}`), NOW)
  await ledger.append(OTHER, putText('the last'), NOW)
  for (const end of ['', '-wal', '-commits']) copyFileSync(`${path}${end}`, `${left}${end}`)
  await ledger.close()
  change(left)
  return left
}

async function opened(path: string): Promise<{ ledger: Ledger; told: readonly Notice[] }> {
  const told: Notice[] = []
  const ledger = await openLedger(path, POLICY, { onNotice: (notice) => void told.push(notice) })
  return { ledger, told }
}

const numberOf = async (ledger: Ledger, ref: RunRef): Promise<number> =>
  (await ledger.append(ref, putText('one more'), NOW)).result.number

function flip(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}

const frames = (path: string): number =>
  (readFileSync(`${path}-wal`).length - LOG_HEADER_BYTES) / FRAME_BYTES

describe('a log that has lost its end', () => {
  // SQLite's rule: all from the first frame that does not fit is ignored, and its handles were given again
  it.each<[string, (path: string) => void]>([
    [
      'a flipped bit in its middle',
      (path) =>
        flip(`${path}-wal`, LOG_HEADER_BYTES + FRAME_BYTES * Math.floor(frames(path) / 2) + 500),
    ],
    ['a flipped bit in its first frame', (path) => flip(`${path}-wal`, LOG_HEADER_BYTES + 100)],
    ['its header spoilt', (path) => flip(`${path}-wal`, 17)],
    [
      'its last commit torn',
      (path) => truncateSync(`${path}-wal`, readFileSync(`${path}-wal`).length - 1_000),
    ],
    ['nothing left of it', (path) => truncateSync(`${path}-wal`, 0)],
    ['been removed', (path) => rmSync(`${path}-wal`)],
  ])('is told, and no handle of it is given again: %s', async (_, change) => {
    const { ledger, told } = await opened(await killed(change))
    expect(told).toEqual([
      expect.objectContaining({
        level: 'error',
        message: expect.stringMatching(/has lost its end/),
      }),
    ])
    expect(await numberOf(ledger, RUN)).toBe(KEPT + 1)
    expect(await numberOf(ledger, OTHER)).toBe(2)
    await ledger.close()
  })

  it('is told once: what was lost is settled with the start', async () => {
    const path = await killed((left) => rmSync(`${left}-wal`))
    await (await opened(path)).ledger.close()
    const { ledger, told } = await opened(path)
    expect(told).toEqual([])
    expect(await numberOf(ledger, RUN)).toBe(KEPT + 1)
    await ledger.close()
  })

  it('is not told of a log that is whole, of a new ledger, nor by the notes of another one', async () => {
    const whole = await opened(await killed(() => undefined))
    expect(whole.told).toEqual([])
    expect(await numberOf(whole.ledger, RUN)).toBe(KEPT + 1)
    await whole.ledger.close()

    const left = await killed((path) => rmSync(path))
    rmSync(`${left}-wal`)
    const fresh = await opened(left)
    expect(fresh.told).toEqual([])
    expect(await numberOf(fresh.ledger, RUN)).toBe(1)
    await fresh.ledger.close()

    const other = await killed(() => undefined)
    copyFileSync(`${other}-commits`, `${left}-commits`)
    const foreign = await opened(left)
    expect(foreign.told).toEqual([])
    expect(await numberOf(foreign.ledger, RUN)).toBe(2)
    await foreign.ledger.close()
  })

  it('costs a line in the log of the service, which goes on', async () => {
    const env = { COATCHECK_LEDGER: join(folder.path, 'service.db') }
    const child = await startChild({ env })
    const kept = new Kept(child.url, 'a')
    for (let n = 0; n < KEPT; n++) expect((await kept.put(`text ${n}`)).status).toBe(201)
    await child.kill()
    expect(existsSync(`${env.COATCHECK_LEDGER}-commits`)).toBe(true)
    flip(`${env.COATCHECK_LEDGER}-wal`, readFileSync(`${env.COATCHECK_LEDGER}-wal`).length - 40_000)
    const next = await startChild({ env })
    kept.url = next.url
    expect(await kept.put('again')).toMatchObject({ status: 201, handle: `r${KEPT + 1}` })
    expect(next.output).toMatch(/"level":50.*has lost its end/)
    await next.stop()
  })
})
