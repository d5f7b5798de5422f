// Disks that take no more, and a file that is not where it was.
import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { expectSound, Kept, statusOf } from '../support/kept.ts'
import { type ServiceChild, startChild } from '../support/service.ts'

/** SIGXFSZ is ignored by Node, so that a write beyond the limit fails as on a full disk. */
function limitWrites(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

const isReady = ({ url }: ServiceChild) => statusOf(`${url}/readyz`)

describe('a ledger that cannot be written', () => {
  let child: ServiceChild
  let kept: Kept
  afterEach(async () => {
    await kept.expectAll()
    expectSound(child.ledger)
    await child.stop()
  })
  const start = async (): Promise<void> => {
    child = await startChild()
    kept = new Kept(child.url, 'a')
    expect((await kept.put('kept')).status).toBe(201)
  }

  it('refuses puts and is not ready until it can be written again; reads go on', async () => {
    await start()
    limitWrites(child.pid, 0)
    expect(await kept.put('refused')).toMatchObject({ status: 507, code: 'storage_full' })
    expect(await isReady(child)).toBe(503)
    await kept.expectAll()
    limitWrites(child.pid, 'unlimited')
    expect(await isReady(child)).toBe(200)
    expect(await kept.put('again')).toMatchObject({ handle: 'r2' })
  })

  it('refuses a large body in the middle, keeps nothing of it, and takes it when there is room', async () => {
    await start()
    const body = randomBytes(15_000_000).toString('base64')
    limitWrites(child.pid, 5_000_000)
    const refused = await kept.put(body)
    expect(refused).toMatchObject({ status: 507, code: 'storage_full' })
    expect(await (await fetch(`${child.url}/v1/runs/a`)).json()).toMatchObject({ results: 1 })
    limitWrites(child.pid, 'unlimited')
    expect(await kept.put(body)).toMatchObject({ status: 201, handle: 'r2' })
  })

  // such puts were answered, and gone at the next start
  it('acknowledges nothing that would go to a file that was moved away', async () => {
    await start()
    renameSync(child.ledger, `${child.ledger}.away`)
    expect((await kept.put('refused')).status).toBe(503)
    expect(await isReady(child)).toBe(503)
    renameSync(`${child.ledger}.away`, child.ledger)
    expect(await isReady(child)).toBe(200)
    expect(await kept.put('again')).toMatchObject({ handle: 'r2' })
  })
})

/** A small disk of the service's own, which this process sees below `/proc`. */
const DISK_BYTES = 50_331_648
/** What a purge may need: the log that it writes, and the file's growth when the log is written back. */
const BALLAST_BYTES = 25_165_824
const onDisk = (folder: string, ...command: readonly string[]): readonly string[] => [
  'unshare',
  ...['--user', '--map-root-user', '--mount', 'sh', '-c'],
  `mount -t tmpfs -o size=${DISK_BYTES} disk ${folder} && exec "$@"`,
  'sh',
  ...command,
]
const POLL_MS = 100
const SMALL_BYTES = 1_000_000
const place = mkdtempSync(join(tmpdir(), 'coatcheck-disk-'))
const [unshare = '', ...tried] = onDisk(place, 'true')
const hasDisks = spawnSync(unshare, tried).status === 0
afterAll(() => rmSync(place, { recursive: true }))

/** SQLite would look for the file at the end of its path's links, on this process's disk. */
function copied(seen: string): string {
  const copy = mkdtempSync(join(place, 'copy-'))
  for (const name of ['ledger.db', 'ledger.db-wal']) {
    copyFileSync(join(seen, name), join(copy, name))
  }
  return join(copy, 'ledger.db')
}

/** Of the ledger with its log; a copy would not do while it changes. */
const sizeBytes = (seen: string): number =>
  ['ledger.db', 'ledger.db-wal'].reduce((sum, name) => sum + statSync(join(seen, name)).size, 0)

describe.skipIf(!hasDisks)('a disk that is full', () => {
  it('keeps nothing of a large body that did not fit, once there is room to erase it', async () => {
    const env = { COATCHECK_LEDGER: join(place, 'ledger.db') }
    const child = await startChild({ env, wrapper: onDisk(place) })
    const seen = `/proc/${child.pid}/root${place}`
    try {
      writeFileSync(`${seen}/ballast`, Buffer.alloc(BALLAST_BYTES))
      const kept = new Kept(child.url, 'kept')
      await kept.put('before')
      const large = randomBytes(DISK_BYTES / 2).toString('hex')
      expect(await kept.put(large)).toMatchObject({ status: 507, code: 'storage_full' })
      await kept.expectAll()
      rmSync(`${seen}/ballast`)
      expect(await isReady(child)).toBe(200)
      while (sizeBytes(seen) > SMALL_BYTES) await sleep(POLL_MS)
      expect(await kept.put('after')).toMatchObject({ status: 201, handle: 'r2' })
      await kept.expectAll()
      expectSound(copied(seen))
    } finally {
      await child.kill()
    }
  })

  it('takes no put, says so, and takes puts again once a purge has made room', async () => {
    const env = { COATCHECK_LEDGER: join(place, 'ledger.db') }
    const child = await startChild({ env, wrapper: onDisk(place) })
    const seen = `/proc/${child.pid}/root${place}`
    try {
      writeFileSync(`${seen}/ballast`, Buffer.alloc(BALLAST_BYTES))
      const kept = new Kept(child.url, 'kept')
      await kept.put('before')
      const noise = () => randomBytes(1_000_000).toString('hex')
      let full = await kept.put(noise())
      const fillers: Kept[] = []
      while (full.status === 201 && fillers.length < 100) {
        const filler = new Kept(child.url, `filler-${fillers.length}`)
        full = await filler.put(noise())
        fillers.push(filler)
      }
      expect(full).toMatchObject({ status: 507, code: 'storage_full' })
      expect(await statusOf(`${child.url}/livez`)).toBe(200)
      await kept.expectAll()
      expectSound(copied(seen))
      rmSync(`${seen}/ballast`)
      expect(await isReady(child)).toBe(200)
      for (const filler of fillers) {
        const purged = await fetch(`${filler.path}?purge=true`, { method: 'DELETE' })
        expect(purged.status).toBe(200)
      }
      for (let n = 3; n < 10; n++) {
        expect(await kept.put(noise())).toMatchObject({ status: 201, handle: `r${n}` })
      }
      await kept.expectAll()
      expectSound(copied(seen))
      expect(await child.stop()).toEqual({ code: 0, signal: null })
    } finally {
      await child.kill()
    }
  })
})
