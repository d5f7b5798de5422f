// Clients that begin a large body and then stop, over real sockets.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const MEBIBYTE = 1_048_576
/** What may be on its way in pieces at a time. */
const UPLOADS = 64
const POLL_MS = 200
const REST = Buffer.alloc(3 * MEBIBYTE - 1, 'x')
const LARGE = Buffer.alloc(2 * MEBIBYTE, 'one line of text\n')

const api = await startApi()
const url = await api.listen()
const { host, port, hostname } = new URL(url)
const sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})
afterAll(() => api.close())

const head = (run: string): string =>
  `POST /v1/runs/${run}/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ncontent-length: ${3 * MEBIBYTE}\r\n\r\n`

/** Connections that have sent `bytes`, and send no more. */
async function stopped(count: number, bytes: string | Buffer): Promise<readonly Socket[]> {
  const opened = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = connect({ host: hostname, port: Number(port) })
      sockets.push(socket)
      await once(socket, 'connect')
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
      return socket
    }),
  )
  // Behind them, so that what they sent has been read.
  await fetch(`${url}/livez`)
  return opened
}

const put = (run: string): Promise<Response> =>
  fetch(`${url}/v1/runs/${run}/results`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: LARGE,
  })

describe('large bodies that stop', () => {
  it('hold nobody up when nothing of them has come', async () => {
    await stopped(2 * UPLOADS, head('silent'))
    expect((await put('others')).status).toBe(201)
  })

  it('make room for others after a while, and are told when they go on', async () => {
    const begun = await stopped(UPLOADS, `${head('slow')}x`)
    let next = await put('next')
    while (next.status === 503) {
      expect(await next.json()).toMatchObject({ code: 'overloaded', limit: 'uploads', value: 64 })
      expect(next.headers.get('retry-after')).toBe('1')
      await sleep(POLL_MS)
      next = await put('next')
    }
    expect(next.status).toBe(201)
    const answers = await Promise.all(
      begun.map(async (socket) => {
        const answered = once(socket, 'data')
        socket.write(REST)
        return String((await answered)[0])
      }),
    )
    const refused = answers.filter((answer) => !answer.startsWith('HTTP/1.1 201 '))
    expect(refused.length).toBeLessThanOrEqual(1)
    for (const answer of refused) expect(answer).toMatch(/^HTTP\/1\.1 503 .*"limit":"uploads"/s)
  })
})
