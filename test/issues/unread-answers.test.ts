// Fault: pipelined requests were all answered into memory. Twelve connections without a token that sent 608 KB of `GET /openapi.json`
// and read nothing ended the process; one of 55 KB with a token took it from 151 MB to 5.9 GB, and with three `/livez` did not
// answer within 20 s.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { numberedLines } from '../support/api.ts'
import { residentBytes } from '../support/memory.ts'
import { type ServiceChild, startChild } from '../support/service.ts'

const TOKEN = 'token-of-the-operator-0'
const AUTHORIZATION = `authorization: Bearer ${TOKEN}\r\n`
const HELD_BYTES = 33_554_432
const VALUE = numberedLines(20_000, 'a line of a value that is long enough')
/** More than the system takes of an answer that nobody reads. */
const LARGE = numberedLines(500_000, 'a line of a value that is long enough')
const CONTENT = '/v1/runs/unread/results/r1/content?render=verbatim'
const LARGE_VALUE = '/v1/runs/unread/results/r2/value'
/** Between two looks at what a hostile client does to the service. */
const LOOK_MS = 250
const LOOKS = 12
const LIVE_MS = 1_000
/** With threads for large calls, which have heaps of their own. */
const MOST_BYTES = 700_000_000

let service: ServiceChild
const sockets: Socket[] = []
beforeAll(async () => {
  service = await startChild({
    env: { COATCHECK_TOKEN: TOKEN, COATCHECK_MAX_HELD_ANSWER_BYTES: String(HELD_BYTES) },
  })
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'text/plain' }
  const url = `${service.url}/v1/runs/unread/results`
  for (const body of [VALUE, LARGE]) {
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201)
  }
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(() => service.stop())

/** A connection that sends `bytes` of requests, and reads nothing. */
async function unread(path: string, bytes: number, headers = ''): Promise<void> {
  const { hostname, port } = new URL(service.url)
  const request = `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => undefined)
  sockets.push(socket)
  await once(socket, 'connect')
  socket.pause()
  socket.write(request.repeat(Math.ceil(bytes / request.length)))
}

/** The longest that `/livez` took, in milliseconds, while the clients were there. */
async function slowestLook(): Promise<number> {
  let slowest = 0
  for (let look = 0; look < LOOKS; look++) {
    const start = performance.now()
    const answer = await fetch(`${service.url}/livez`)
    expect(answer.status).toBe(200)
    slowest = Math.max(slowest, performance.now() - start)
    await sleep(LOOK_MS)
  }
  return slowest
}

describe('answers that nobody reads', () => {
  it.each([
    ['twelve strangers ask for the document', '/openapi.json', 12, 608_000, ''],
    ['twelve strangers ask for the document as YAML', '/openapi.yaml', 12, 608_000, ''],
    ['three callers ask for a content', CONTENT, 3, 55_000, AUTHORIZATION],
    ['two hundred callers ask for a content', CONTENT, 200, 1_000, AUTHORIZATION],
    ['fifty callers ask for a large value', LARGE_VALUE, 50, 1_000, AUTHORIZATION],
  ] as const)(
    'take little memory, and no time of others: %s',
    async (_, path, count, bytes, headers) => {
      for (let n = 0; n < count; n++) await unread(path, bytes, headers)
      expect(await slowestLook()).toBeLessThan(LIVE_MS)
      expect(residentBytes(service.pid).peak).toBeLessThan(MOST_BYTES)
    },
  )

  it('make room for others after a while', async () => {
    for (let n = 0; n < 60; n++) await unread(LARGE_VALUE, 100, AUTHORIZATION)
    const read = (): Promise<Response> =>
      fetch(service.url + CONTENT, { headers: { authorization: `Bearer ${TOKEN}` } })
    let answer = await read()
    while (answer.status === 200) {
      await answer.arrayBuffer()
      await sleep(LOOK_MS)
      answer = await read()
    }
    while (answer.status === 503) {
      expect(await answer.json()).toMatchObject({
        code: 'overloaded',
        limit: 'held_answer_bytes',
        value: HELD_BYTES,
      })
      await sleep(LOOK_MS)
      answer = await read()
    }
    expect(answer.status).toBe(200)
    expect(((await answer.json()) as { content: string }).content).toBe(VALUE)
  })
})
