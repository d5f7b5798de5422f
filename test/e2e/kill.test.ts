// What a crash and a stop leave behind.
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/ledger.ts'
import { startChild } from '../support/service.ts'
import { killRounds } from './killing.ts'

const ROUNDS = 8
const WRITERS = 16
const LONGEST_ROUND_MS = 300
const TIMEOUT_MS = 600_000
const SOON_MS = 3000
const RUN = '/v1/runs/crash'

const folder = temporaryFolder()
afterAll(() => folder.remove())

describe('a service that is killed', () => {
  it('has kept all that it acknowledged, nothing by half, and goes on with the next number', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { acknowledged } = await killRounds({
      ledger: join(folder.path, 'crash.db'),
      rounds: ROUNDS,
      writers: WRITERS,
      longestRoundMs: LONGEST_ROUND_MS,
    })
    expect(acknowledged).toBeGreaterThan(ROUNDS)
  })
})

describe('SIGTERM', () => {
  it('lets a slow upload finish, which is there after a restart, and ends with 0', async () => {
    const env = { COATCHECK_LEDGER: join(folder.path, 'term.db') }
    const child = await startChild({ env })
    const agent = new Agent({ keepAlive: true })
    const upload = request(`${child.url}${RUN}/results`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'transfer-encoding': 'chunked' },
      agent,
    })
    const replied = once(upload, 'response')
    upload.write('first ')
    await sleep(200)
    const stopped = child.stop()
    await sleep(300)
    upload.end('and last')
    const [reply] = (await replied) as [IncomingMessage]
    const answeredAt = performance.now()
    expect(reply.statusCode).toBe(201)
    reply.resume()
    expect(await stopped).toEqual({ code: 0, signal: null })
    // The client would keep the connection; it is closed under it.
    expect(performance.now() - answeredAt).toBeLessThan(SOON_MS)

    const next = await startChild({ env })
    const value = await fetch(`${next.url}${RUN}/results/r1/value`)
    expect(await value.text()).toBe('first and last')
    expect(await next.stop()).toEqual({ code: 0, signal: null })
    agent.destroy()
  })

  it('does not wait for connections that only stay open', async () => {
    const child = await startChild()
    await (await fetch(`${child.url}/livez`)).text()
    const startedAt = performance.now()
    expect((await child.stop()).code).toBe(0)
    expect(performance.now() - startedAt).toBeLessThan(SOON_MS)
  })
})
