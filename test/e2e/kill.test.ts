// What a crash and a stop leave behind. The moments of the kills are random and cannot be replayed; the promises are not.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import type { PutAnswer, ResultDescription } from '../../src/runs/answer.ts'
import type { RecallAnswer } from '../../src/runs/recall.ts'
import { temporaryFolder } from '../support/ledger.ts'
import { startChild } from '../support/service.ts'

const ROUNDS = 20
const CLIENTS = 6
const LONGEST_ROUND_MS = 200
const TIMEOUT_MS = 240_000
const SOON_MS = 3000
const NOT_FOUND = 404
const RUN = '/v1/runs/crash'

const folder = temporaryFolder()
afterAll(() => folder.remove())

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Acknowledged {
  readonly sha256: string
  readonly evidenceId: string
  /** What its recall begins with. */
  readonly start: string
}

/** The `n`-th put: a text, a JSON value or a failure, of several sizes. */
function putOf(n: number): {
  readonly type: string
  readonly body: string
  readonly start: string
} {
  const filler = `${n} `.repeat(1 + ((n * 7919) % 9000))
  switch (n % 3) {
    case 0:
      return { type: 'text/plain', body: `text ${filler}`, start: `text ${n}` }
    case 1:
      return {
        type: 'application/vnd.x+json',
        body: `{"n":${n}.0,"text":"${filler}"}`,
        start: `{\n  "n": ${n}.0`,
      }
    default:
      return {
        type: 'application/json',
        body: JSON.stringify({ failure: { message: `failed ${filler}` } }),
        start: `failed ${n}`,
      }
  }
}

/** Puts one after the other until the service is gone; what was answered goes into `kept`. */
async function client(
  url: string,
  next: () => number,
  kept: Map<string, Acknowledged>,
): Promise<void> {
  for (;;) {
    const n = next()
    const { type, body, start } = putOf(n)
    let reply: Response
    let answer: PutAnswer
    try {
      reply = await fetch(`${url}${RUN}/results?tool_use_id=call-${n}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      answer = (await reply.json()) as PutAnswer
    } catch {
      return
    }
    expect(reply.status).toBe(201)
    expect(kept.has(answer.handle)).toBe(false)
    if (answer.outcome === 'output') expect(answer.sha256).toBe(sha256(Buffer.from(body)))
    kept.set(answer.handle, { sha256: answer.sha256, evidenceId: answer.evidence_id, start })
  }
}

/** Every result of the run, in order. */
async function listed(url: string): Promise<readonly ResultDescription[]> {
  const items: ResultDescription[] = []
  let after = ''
  for (;;) {
    const reply = await fetch(`${url}${RUN}/results?limit=1000${after}`)
    if (reply.status === NOT_FOUND) return items
    const page = (await reply.json()) as { items: ResultDescription[]; next: string | null }
    items.push(...page.items)
    if (page.next === null) return items
    after = `&after=${page.next}`
  }
}

async function expectKept(
  url: string,
  handle: string,
  { sha256: digest, evidenceId, start }: Acknowledged,
): Promise<void> {
  const value = await fetch(`${url}${RUN}/results/${handle}/value`)
  expect([handle, value.status, sha256(Buffer.from(await value.arrayBuffer()))]).toEqual([
    handle,
    200,
    digest,
  ])
  const recall = await fetch(`${url}${RUN}/recall`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: evidenceId }),
  })
  const page = (await recall.json()) as RecallAnswer
  expect(page.content.slice(0, start.length)).toBe(start)
}

async function expectAllKept(
  url: string,
  results: ReadonlyMap<string, Acknowledged>,
): Promise<void> {
  const left = [...results]
  const check = async (): Promise<void> => {
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      await expectKept(url, ...next)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, check))
}

async function putText(url: string, text: string): Promise<PutAnswer> {
  const reply = await fetch(`${url}${RUN}/results`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: text,
  })
  expect(reply.status).toBe(201)
  return (await reply.json()) as PutAnswer
}

/** There are r1 to rn, no more than was `acknowledged` and in flight; the next put is the next number, which is returned. */
async function expectNumbered(url: string, acknowledged: number): Promise<number> {
  const handles = (await listed(url)).map(({ handle }) => handle)
  expect(handles).toEqual(handles.map((_, i) => `r${i + 1}`))
  expect(handles.length).toBeGreaterThanOrEqual(acknowledged)
  expect(handles.length).toBeLessThanOrEqual(acknowledged + CLIENTS)
  expect((await putText(url, 'next')).handle).toBe(`r${handles.length + 1}`)
  return handles.length + 1
}

describe('a service that is killed', () => {
  it('has kept all that it acknowledged, and goes on with the next number', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const env = { COATCHECK_LEDGER: join(folder.path, 'crash.db') }
    const all = new Map<string, Acknowledged>()
    let [answered, known, n] = [0, 0, 0]
    for (let round = 0; round < ROUNDS; round++) {
      const child = await startChild({ env })
      known = await expectNumbered(child.url, known + answered)
      const kept = new Map<string, Acknowledged>()
      const clients = Array.from({ length: CLIENTS }, () => client(child.url, () => n++, kept))
      await sleep(Math.random() * LONGEST_ROUND_MS)
      await child.kill()
      await Promise.all(clients)
      for (const [handle, result] of kept) all.set(handle, result)
      answered = kept.size
    }
    const last = await startChild({ env })
    await expectNumbered(last.url, known + answered)
    await expectAllKept(last.url, all)
    await last.stop()
    expect(all.size).toBeGreaterThan(ROUNDS)
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
