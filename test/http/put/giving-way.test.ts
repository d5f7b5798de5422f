// Bodies that have no room until others give way, and answers that nobody takes, over real sockets.
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { type Api, startApi } from '../../support/api.ts'

const MEBIBYTE = 1_048_576
const BODY_BYTES = 900_000
const LARGE_BYTES = 16 * MEBIBYTE
const POLL_MS = 20
const TRICKLE_MS = 200
const BODY = Buffer.from(`{"output":"${'x'.repeat(BODY_BYTES - 13)}"}`)

const folder = mkdtempSync(join(tmpdir(), 'coatcheck-held-'))
const tokens = join(folder, 'tokens')
writeFileSync(tokens, 'acme:token-of-acme\nzeta:token-of-zeta\n')

const api = await startApi({
  COATCHECK_TOKENS_FILE: tokens,
  COATCHECK_TOKEN: 'token-of-the-operator',
  COATCHECK_MAX_JSON_BODY_BYTES: String(MEBIBYTE),
  // for two of the bodies below
  COATCHECK_MAX_HELD_BODY_BYTES: String(2 * MEBIBYTE),
})
const impatient = await startApi({ COATCHECK_BODY_IDLE_SECONDS: '1' })
const url = await api.listen()
const impatientUrl = await impatient.listen()

const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await heldUntil((bytes) => bytes === 0)
})
afterAll(async () => {
  await Promise.all([api.close(), impatient.close()])
  rmSync(folder, { recursive: true })
})

async function heldUntil(isReached: (bytes: number) => boolean): Promise<void> {
  for (;;) {
    const { text } = await api.call('GET', '/metrics', undefined, {
      authorization: 'Bearer token-of-the-operator',
    })
    if (isReached(Number(/^coatcheck_held_body_bytes (\d+)$/m.exec(text)?.[1]))) return
    await sleep(POLL_MS)
  }
}

function open(base = url): Socket {
  const { hostname, port } = new URL(base)
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket.on('error', () => undefined))
  return socket
}

const head = (who: string): string =>
  `POST /v1/runs/held/results HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer token-of-${who}\r\ncontent-type: application/json\r\ncontent-length: ${BODY_BYTES}\r\n\r\n`

/** A put of which the last `missing` bytes have not come. */
function begun(who: string, missing: number): Socket {
  const socket = open()
  socket.write(head(who))
  socket.write(BODY.subarray(0, -missing))
  return socket
}

const answerOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

const put = async (who: string): Promise<number> => {
  const { status } = await fetch(`${url}/v1/runs/held/results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer token-of-${who}` },
    body: BODY,
  })
  return status
}

const REFUSAL = /^HTTP\/1\.1 503 .*"code":"overloaded".*made room.*"limit":"held_body_bytes"/s

describe('bodies that hold all the room', () => {
  // Fault: a byte now and then held the room for as long as a client liked.
  it('give way once they arrive slowly, one for one that needs it', async () => {
    const slow = [begun('acme', 1_000), begun('acme', 1_000)]
    await heldUntil((bytes) => bytes === 2 * (BODY_BYTES - 1_000))
    const refused = Promise.race(slow.map(answerOf))
    const trickle = setInterval(() => {
      for (const socket of slow) socket.write('x')
    }, TRICKLE_MS)
    expect(await put('acme')).toBe(503)
    while ((await put('acme')) === 503) await sleep(TRICKLE_MS)
    clearInterval(trickle)
    expect(await refused).toMatch(REFUSAL)
    await heldUntil((bytes) => bytes > BODY_BYTES / 2 && bytes < BODY_BYTES)
  })

  it('are left alone for another of the same tenant while they have just come', async () => {
    const slow = begun('acme', BODY_BYTES / 2)
    await heldUntil((bytes) => bytes === BODY_BYTES / 2)
    const quick = begun('acme', 1)
    await heldUntil((bytes) => bytes > BODY_BYTES)
    expect(await put('acme')).toBe(503)
    slow.write(BODY.subarray(-BODY_BYTES / 2))
    quick.write(BODY.subarray(-1))
    expect(await answerOf(slow)).toMatch(/^HTTP\/1\.1 20[01] /)
    expect(await answerOf(quick)).toMatch(/^HTTP\/1\.1 20[01] /)
  })

  it('give way at once to another tenant, where theirs has more than half', async () => {
    const [first, second] = [begun('acme', 1), begun('acme', 1)]
    await heldUntil((bytes) => bytes === 2 * (BODY_BYTES - 1))
    const refused = Promise.race([first, second].map(answerOf))
    expect(await put('zeta')).toBe(201)
    expect(await refused).toMatch(REFUSAL)
    // now neither has more
    const other = begun('zeta', 1)
    await heldUntil((bytes) => bytes === 2 * (BODY_BYTES - 1))
    expect(await put('zeta')).toBe(503)
    expect(await put('acme')).toBe(503)
    other.destroy()
  })
})

/** Sends a request for a value that no buffers of the system hold, and takes nothing of it. */
async function untaken(service: Api, base: string, headers = ''): Promise<Socket> {
  const auth = headers === '' ? {} : { authorization: 'Bearer token-of-acme' }
  await service
    .run('large')
    .putRaw(Buffer.alloc(LARGE_BYTES, 'a line of text\n'), 'text/plain', '', auth)
  const socket = open(base).pause()
  socket.write(`GET /v1/runs/large/results/r1/value HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`)
  return socket
}

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    impatient.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

describe('an answer that nobody takes', () => {
  // Fault: what came behind it was worked on, and its answers were kept in memory.
  it('leaves what comes behind it unread until it is taken', async () => {
    const socket = await untaken(api, url, 'authorization: Bearer token-of-acme\r\n')
    const runs = { authorization: 'Bearer token-of-acme' }
    socket.write(head('acme').replace('/held/', '/behind/'))
    socket.write(BODY)
    const behind = () => api.call('GET', '/v1/runs/behind', undefined, runs)
    await sleep(2 * POLL_MS)
    await heldUntil((bytes) => bytes === 0)
    expect((await behind()).status).toBe(404)
    socket.resume()
    while ((await behind()).status !== 200) await sleep(POLL_MS)
    expect(socket.destroyed).toBe(false)
  })

  // Fault: it was kept for as long as the client did.
  it('is given up after a while, and its connection ended', async () => {
    await untaken(impatient, impatientUrl)
    while ((await connections()) === 0) await sleep(POLL_MS)
    while ((await connections()) > 0) await sleep(POLL_MS)
  })

  it('goes on where it is taken slowly', async () => {
    const socket = await untaken(impatient, impatientUrl)
    let bytes = 0
    for (let pauses = 0; bytes < LARGE_BYTES; ) {
      const piece = socket.read() as Buffer | null
      bytes += piece?.length ?? 0
      const isSlow = pauses < 8 && bytes > (pauses + 1) * MEBIBYTE
      if (isSlow) pauses++
      await sleep(isSlow ? 2 * TRICKLE_MS : 1)
      if (socket.destroyed) break
    }
    expect(bytes).toBeGreaterThan(LARGE_BYTES)
  })
})
