// R2 4: a disk that fails to read or became read-only was called a damaged ledger or a full disk.
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { compileDiskFaults, ERRNO, type Fault } from '../support/disk-faults.ts'
import { Kept, statusOf } from '../support/kept.ts'
import { temporaryFolder } from '../support/ledger.ts'
import { type ServiceChild, startChild, startRefused } from '../support/service.ts'

const folder = temporaryFolder()
afterAll(() => folder.remove())
const faults = compileDiskFaults(folder.path)
const noCompiler = faults === undefined ? ' (skipped: needs gcc)' : ''
const UNAVAILABLE = { status: 503, code: 'ledger_unavailable', retryAfter: '1' }
const LEDGER = 'ledger.db'
const LOG = 'ledger.db-wal'
/** Together more than the connections keep of the file. */
const VALUES = 12
const VALUE_BYTES = 1_000_000

interface Answer {
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: string | null
}

async function get(url: string): Promise<Answer> {
  const reply = await fetch(url)
  const retryAfter = reply.headers.get('retry-after')
  if (reply.ok) await reply.arrayBuffer()
  const code = reply.ok ? undefined : ((await reply.json()) as { code: string }).code
  return { status: reply.status, code, retryAfter }
}

describe.skipIf(faults === undefined)(`a disk that fails${noCompiler}`, () => {
  let child: ServiceChild
  let kept: Kept
  let runs = 0
  const set = (...list: readonly Fault[]): void => faults?.set(...list)
  afterEach(async () => {
    set()
    await child.kill()
  })

  /** On a ledger of its own, with values that were written back from the log, or that are in it. */
  const start = async (where: 'file' | 'log'): Promise<void> => {
    const path = join(folder.path, `${++runs}-${LEDGER}`)
    const env = { ...faults?.env, COATCHECK_LEDGER: path, COATCHECK_CHUNK_CACHE_BYTES: '0' }
    child = await startChild({ env })
    kept = new Kept(child.url, 'a')
    for (let n = 0; n < VALUES; n++) await kept.put(randomBytes(VALUE_BYTES / 2).toString('hex'))
    if (where === 'log') return
    await child.stop()
    child = await startChild({ env })
    kept.url = child.url
  }
  const values = (): Promise<readonly Answer[]> =>
    Promise.all(
      Array.from({ length: VALUES }, (_, n) => get(`${kept.path}/results/r${n + 1}/value`)),
    )

  it.each([
    ['the ledger', 'file', LEDGER],
    ['its log', 'log', LOG],
  ] as const)(
    'answers reads that EIO on %s stopped with 503, never as corrupt, and recovers',
    async (_what, where, file) => {
      await start(where)
      set({ call: 'pread', errno: ERRNO.EIO, file })
      const failed = (await values()).filter(({ status }) => status !== 200)
      expect(failed.length).toBeGreaterThan(0)
      expect(failed).toEqual(failed.map(() => UNAVAILABLE))
      set()
      await kept.expectAll()
      expect(child.output).not.toContain('"code":"ledger_corrupt"')
    },
  )

  it('refuses puts that EIO on reads stopped with 503, and takes them after it', async () => {
    await start('file')
    set({ call: 'pread', errno: ERRNO.EIO, file: LEDGER })
    const refused: unknown[] = []
    for (let n = 0; n < 5; n++) {
      const fresh = new Kept(child.url, `other-${n}`)
      const { status, code, retryAfter } = await fresh.put('x'.repeat(100_000))
      if (status !== 201) refused.push({ status, code, retryAfter })
    }
    expect(refused).toEqual(refused.map(() => UNAVAILABLE))
    set()
    expect(await kept.put('after')).toMatchObject({ status: 201, handle: `r${VALUES + 1}` })
    await kept.expectAll()
  })

  it('says of a disk that became read-only that it is unavailable, not full', async () => {
    await start('log')
    set({ call: 'pwrite', errno: ERRNO.EROFS, file: LOG })
    expect(await kept.put('refused')).toMatchObject(UNAVAILABLE)
    expect(await statusOf(`${child.url}/readyz`)).toBe(503)
    await kept.expectAll()
  })

  it('says of a disk without room that it is full', async () => {
    await start('log')
    set({ call: 'pwrite', errno: ERRNO.ENOSPC, file: LOG })
    expect(await kept.put('refused')).toMatchObject({ status: 507, code: 'storage_full' })
    set()
    await kept.expectAll()
    expect(await kept.put('after')).toMatchObject({ status: 201, handle: `r${VALUES + 1}` })
  })

  it('is not started on with a ledger that cannot be read, which is not called damaged', async () => {
    await start('file')
    await child.stop()
    const env = { ...faults?.env, COATCHECK_LEDGER: child.ledger }
    const before = readFileSync(child.ledger)
    set({ call: 'pread', errno: ERRNO.EIO, file: LEDGER })
    const { output } = await startRefused({ env })
    expect(output).toContain('cannot be opened')
    expect(output).not.toContain('damaged')
    set()
    expect(readFileSync(child.ledger).equals(before)).toBe(true)
  })
})
