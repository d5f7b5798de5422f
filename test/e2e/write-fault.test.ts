import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { renameSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { startChild } from '../support/service.ts'

/** SIGXFSZ is ignored by Node, so that a write beyond the limit fails as on a full disk. */
function limitWrites(pid: number, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

describe('a ledger that cannot be written', () => {
  let child: Awaited<ReturnType<typeof startChild>>
  afterEach(() => child.stop())

  const put = (text: string) =>
    fetch(`${child.url}/v1/runs/a/results`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: text,
    })
  const status = async (path: string) => (await fetch(child.url + path)).status

  it('refuses puts and is not ready until it can be written again; reads go on', async () => {
    child = await startChild()
    expect((await put('kept')).status).toBe(201)
    limitWrites(child.pid, 0)
    expect((await put('refused')).status).toBeGreaterThanOrEqual(500)
    expect(await status('/readyz')).toBe(503)
    expect(await status('/v1/runs/a/results/r1/value')).toBe(200)
    limitWrites(child.pid, 'unlimited')
    expect(await status('/readyz')).toBe(200)
    expect(await (await put('again')).json()).toMatchObject({ handle: 'r2' })
  })

  it('refuses a large body in the middle, keeps nothing of it, and takes it when there is room', async () => {
    child = await startChild()
    expect((await put('kept')).status).toBe(201)
    const body = randomBytes(15_000_000).toString('base64')
    limitWrites(child.pid, 5_000_000)
    const refused = await put(body)
    expect(refused.status).toBeGreaterThanOrEqual(500)
    expect(await refused.json()).toHaveProperty('code')
    expect(await (await fetch(`${child.url}/v1/runs/a`)).json()).toMatchObject({ results: 1 })
    limitWrites(child.pid, 'unlimited')
    expect(await (await put(body)).json()).toMatchObject({ handle: 'r2', total_bytes: 20_000_000 })
    const value = await fetch(`${child.url}/v1/runs/a/results/r2/value`)
    expect((await value.text()) === body).toBe(true)
  })

  // such puts were answered, and gone at the next start
  it('acknowledges nothing that would go to a file that was moved away', async () => {
    child = await startChild()
    expect((await put('kept')).status).toBe(201)
    renameSync(child.ledger, `${child.ledger}.away`)
    expect((await put('refused')).status).toBe(503)
    expect(await status('/readyz')).toBe(503)
    renameSync(`${child.ledger}.away`, child.ledger)
    expect(await status('/readyz')).toBe(200)
    expect(await (await put('again')).json()).toMatchObject({ handle: 'r2' })
  })
})
