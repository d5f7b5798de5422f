// The ledger's files removed, replaced or cut short under a running service: what it acknowledges from then on would be lost.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { expectSound, Kept, statusOf } from '../support/kept.ts'
import { temporaryFolder } from '../support/ledger.ts'
import { startChild } from '../support/service.ts'

const POLL = { timeout: 10_000 }

const folder = temporaryFolder()
afterAll(() => folder.remove())

describe('a log that is not the one that was opened', () => {
  it.each<[string, (log: string) => void]>([
    ['removed', (log) => rmSync(log)],
    ['moved away', (log) => renameSync(log, `${log}.away`)],
    [
      'replaced by a copy',
      (log) => {
        copyFileSync(log, `${log}.copy`)
        renameSync(`${log}.copy`, log)
      },
    ],
    [
      'replaced by a link to itself',
      (log) => {
        renameSync(log, `${log}.other`)
        symlinkSync(`${log}.other`, log)
      },
    ],
  ])('takes no puts any more, and the next start has all of them: %s', async (what, change) => {
    const env = { COATCHECK_LEDGER: join(folder.path, `${what.replaceAll(' ', '-')}.db`) }
    const child = await startChild({ env })
    const kept = new Kept(child.url, 'a')
    for (let n = 0; n < 3; n++) expect((await kept.put(`kept ${n}`)).status).toBe(201)
    change(`${child.ledger}-wal`)
    for (let n = 0; n < 2; n++) {
      expect(await kept.put('refused')).toMatchObject({ status: 503, code: 'ledger_unavailable' })
    }
    expect(await statusOf(`${child.url}/readyz`)).toBe(503)
    await kept.expectAll()
    await expect.poll(() => child.output, POLL).toMatch(/"level":60.*put back/)
    expect(child.output.match(/"level":60/g)).toHaveLength(1)
    await child.kill()
    const next = await startChild({ env })
    kept.url = next.url
    await kept.expectAll()
    expect(await kept.put('again')).toMatchObject({ handle: 'r4' })
    expect(await next.stop()).toEqual({ code: 0, signal: null })
    expectSound(env.COATCHECK_LEDGER)
  })

  // Fault: a copy of the log, with values and names, stayed beside the ledger for good.
  it('is put aside until the ledger has all that was acknowledged', async () => {
    const env = { COATCHECK_LEDGER: join(folder.path, 'aside.db') }
    const child = await startChild({ env })
    const kept = new Kept(child.url, 'a')
    await kept.put('kept')
    const log = `${child.ledger}-wal`
    copyFileSync(log, `${log}.copy`)
    renameSync(`${log}.copy`, log)
    await kept.put('refused')
    await child.kill()
    expect(existsSync(`${log}.replaced`)).toBe(true)
    const next = await startChild({ env })
    expect(existsSync(`${log}.replaced`)).toBe(false)
    expect(next.output).toMatch(/"level":40.*put aside when its log was replaced was removed/)
    kept.url = next.url
    await kept.expectAll()
    await next.stop()
  })

  // Fault: a stop put the log of the ledger that was moved away beside the one that had taken its place.
  it('of a ledger that was replaced is left to that ledger', async () => {
    const child = await startChild({ env: { COATCHECK_LEDGER: join(folder.path, 'left.db') } })
    const kept = new Kept(child.url, 'a')
    await kept.put('kept')
    for (const end of ['', '-wal']) {
      renameSync(`${child.ledger}${end}`, `${child.ledger}${end}.away`)
      writeFileSync(`${child.ledger}${end}`, `another ledger${end}`)
    }
    await child.stop()
    expect(readFileSync(`${child.ledger}-wal`, 'utf8')).toBe('another ledger-wal')
    expect(existsSync(`${child.ledger}-wal.replaced`)).toBe(false)
  })

  it.each(['-wal', ''])('takes no puts after it was truncated: ledger.db%s', async (end) => {
    const child = await startChild()
    const kept = new Kept(child.url, 'a')
    expect((await kept.put('kept')).status).toBe(201)
    truncateSync(`${child.ledger}${end}`, 0)
    // pages that are gone may be in the way of the service's own reads before it writes
    expect((await kept.put('refused')).status).toBeGreaterThanOrEqual(500)
    expect(await statusOf(`${child.url}/readyz`)).toBe(503)
    await expect.poll(() => child.output, POLL).toMatch(/"level":60.*was truncated/)
    expect((await kept.put('refused')).status).toBeGreaterThanOrEqual(500)
    await child.kill()
  })

  it('ends with status 1 where a setting says so, and is taken up again by the next start', async () => {
    const env = {
      COATCHECK_LEDGER: join(folder.path, 'ends.db'),
      COATCHECK_EXIT_ON_WRITE_FAULT: '1',
    }
    const child = await startChild({ env })
    const kept = new Kept(child.url, 'a')
    await kept.put('kept')
    rmSync(`${child.ledger}-wal`)
    await kept.put('refused').catch(() => undefined)
    expect(await child.ended()).toEqual({ code: 1, signal: null })
    expect(existsSync(`${child.ledger}-wal`)).toBe(true)
    const next = await startChild({ env })
    kept.url = next.url
    await kept.expectAll()
    await next.stop()
  })
})
