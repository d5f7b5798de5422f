// R5: on a full disk a purge failed, and after a restart the service did not start.
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Kept, statusOf } from '../support/kept.ts'
import { type ServiceChild, startChild } from '../support/service.ts'
import { hasSmallDisks, makeSmallDisk, type SmallDisk } from '../support/small-disk.ts'

const DISK_BYTES = 64 * 1024 * 1024
const FILLER_BYTES = 1_000_000
const BALLAST_PIECE_BYTES = 65_536
const POLL_MS = 50
const noise = (): string => randomBytes(FILLER_BYTES).toString('hex')
const folder = mkdtempSync(join(tmpdir(), 'coatcheck-full-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe.skipIf(!hasSmallDisks)(
  'a ledger on a disk that is full (skipped: needs mount namespaces)',
  () => {
    let disk: SmallDisk
    let child: ServiceChild
    const path = join(folder, 'ledger.db')
    beforeEach(async () => {
      disk = await makeSmallDisk(folder, DISK_BYTES)
    })
    afterEach(async () => {
      await child.kill()
      disk.remove()
    })
    const options = { env: { COATCHECK_LEDGER: path }, wrapper: [] as readonly string[] }
    const start = async (waitFor?: '/livez'): Promise<void> => {
      child = await startChild({ ...options, wrapper: disk.wrapper, ...(waitFor && { waitFor }) })
    }
    const ballast = (): string => disk.seen(join(folder, 'ballast'))
    const reserve = (): string => disk.seen(`${path}.reserve`)

    /** Takes what is left of the disk, to the last page. */
    function fill(): void {
      const file = openSync(ballast(), 'a')
      const piece = Buffer.alloc(BALLAST_PIECE_BYTES, 1)
      try {
        for (;;) writeSync(file, piece)
      } catch (error) {
        expect(error).toMatchObject({ code: 'ENOSPC' })
      } finally {
        closeSync(file)
      }
    }

    const purge = async ({ path: run }: Kept): Promise<number> =>
      (await fetch(`${run}?purge=true`, { method: 'DELETE' })).status

    /** Puts into runs of their own until there is no room. */
    async function putUntilFull(): Promise<readonly Kept[]> {
      const fillers: Kept[] = []
      for (;;) {
        const filler = new Kept(child.url, `filler-${fillers.length}`)
        const { status, code } = await filler.put(noise())
        if (status !== 201) {
          expect({ status, code }).toEqual({ status: 507, code: 'storage_full' })
          return fillers
        }
        fillers.push(filler)
      }
    }

    it('that puts have filled takes purges, and puts again after them', async () => {
      await start()
      const kept = new Kept(child.url, 'kept')
      await kept.put('before')
      const fillers = await putUntilFull()
      expect(fillers.length).toBeGreaterThan(5)
      expect(
        child.output.match(/less free room than COATCHECK_FREE_DISK_WARN_BYTES/g),
      ).toHaveLength(1)
      expect(await statusOf(`${child.url}/livez`)).toBe(200)
      for (const filler of fillers) expect(await purge(filler)).toBe(200)
      expect(await kept.put(noise())).toMatchObject({ status: 201, handle: 'r2' })
      await kept.expectAll()
    })

    it('that others have filled takes purges, and a start, which serves reads and becomes writable by itself', async () => {
      await start()
      const kept = new Kept(child.url, 'kept')
      await kept.put('before')
      const fillers: Kept[] = []
      for (let n = 0; n < 6; n++) {
        const filler = new Kept(child.url, `filler-${n}`)
        await filler.put(noise())
        fillers.push(filler)
      }
      expect(statSync(reserve()).size).toBeGreaterThan(0)
      fill()
      expect(await kept.put('refused')).toMatchObject({ status: 507, code: 'storage_full' })
      expect(await statusOf(`${child.url}/readyz`)).toBe(503)
      await child.kill()

      await start('/livez')
      for (const one of [kept, ...fillers]) one.url = child.url
      expect(await statusOf(`${child.url}/readyz`)).toBe(503)
      await kept.expectAll()
      for (const filler of fillers) await filler.expectAll()
      const recall = await fetch(`${kept.path}/recall`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"id": "r1"}',
      })
      expect(await recall.json()).toMatchObject({ content: 'before' })
      expect(await kept.put('refused')).toMatchObject({ status: 507, code: 'storage_full' })
      const [first, second, ...others] = fillers as [Kept, Kept, ...Kept[]]
      fill()
      expect(await purge(first)).toBe(200)
      expect(await statusOf(first.path)).toBe(404)
      expect(await purge(second)).toBe(200)

      rmSync(ballast())
      while ((await statusOf(`${child.url}/readyz`)) !== 200) await sleep(POLL_MS)
      expect(await kept.put('after')).toMatchObject({ status: 201, handle: 'r2' })
      await kept.expectAll()
      for (const filler of others) await filler.expectAll()
      expect(existsSync(reserve())).toBe(true)
      expect(await child.stop()).toEqual({ code: 0, signal: null })
    })

    it('takes a purge while it runs, without a start', async () => {
      await start()
      const kept = new Kept(child.url, 'kept')
      await kept.put('before')
      const filler = new Kept(child.url, 'filler')
      for (let n = 0; n < 4; n++) await filler.put(noise())
      fill()
      expect(await kept.put(noise())).toMatchObject({ status: 507, code: 'storage_full' })
      expect(await purge(filler)).toBe(200)
      expect(await statusOf(filler.path)).toBe(404)
      await kept.expectAll()
    })
  },
)
