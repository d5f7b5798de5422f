// The memory that bodies may take together, over real sockets.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const LIMIT_BYTES = 1_048_576
const BODY_BYTES = 700_000
const POLL_MS = 20
const TYPES = ['application/json', 'application/x+json', 'text/plain'] as const

const api = await startApi({
  COATCHECK_MAX_JSON_BODY_BYTES: String(LIMIT_BYTES),
  // less than one JSON body, which has room all the same
  COATCHECK_MAX_HELD_BODY_BYTES: '1024',
})
const url = await api.listen()
const { host, port, hostname } = new URL(url)
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await heldUntil((bytes) => bytes === 0)
})
afterAll(() => api.close())

const BODY = Buffer.from(`{"output":"${'x'.repeat(BODY_BYTES - 13)}"}`)

async function heldUntil(isReached: (bytes: number) => boolean): Promise<void> {
  for (;;) {
    const text = await (await fetch(`${url}/metrics`)).text()
    if (isReached(Number(/^coatcheck_held_body_bytes (\d+)$/m.exec(text)?.[1]))) return
    await sleep(POLL_MS)
  }
}

function open(type: string, framing = `content-length: ${BODY_BYTES}`): Socket {
  const socket = connect({ host: hostname, port: Number(port) })
  sockets.push(socket)
  socket.write(
    `POST /v1/runs/held/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\n${framing}\r\n\r\n`,
  )
  return socket
}

/** The first of an answer, which has all of a problem. */
const answerOf = async (socket: Socket): Promise<string> => String((await once(socket, 'data'))[0])

const put = (body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${url}/v1/runs/held/results`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: Buffer.from(body),
  })

const REFUSAL =
  /^HTTP\/1\.1 503 .*\r\nretry-after: 1\r\n.*"code":"overloaded".*"limit":"held_body_bytes","value":1048576/s

describe('bodies that are held in memory', () => {
  it.each(TYPES)('leave others unread that have no room beside them: %s', async (type) => {
    const first = open(type)
    first.write(BODY.subarray(0, -1))
    await heldUntil((bytes) => bytes === BODY_BYTES - 1)
    // only the headers are there
    for (const other of TYPES) expect(await answerOf(open(other))).toMatch(REFUSAL)
    expect((await put('{"output":"small"}')).status).toBe(201)
    first.write(BODY.subarray(-1))
    expect(await answerOf(first)).toMatch(/^HTTP\/1\.1 201 /)
    await heldUntil((bytes) => bytes === 0)
    expect((await put(BODY)).status).toBe(201)
  })

  it('count as they come, where no length tells, encoded or not', async () => {
    const first = open('application/json')
    first.write(BODY.subarray(0, -1))
    await heldUntil((bytes) => bytes === BODY_BYTES - 1)
    const chunked = open('application/json', 'transfer-encoding: chunked')
    const refused = answerOf(chunked)
    chunked.write(`${BODY_BYTES.toString(16)}\r\n`)
    chunked.write(BODY)
    expect(await refused).toMatch(REFUSAL)
    const encoded = await put(gzipSync(BODY), { 'content-encoding': 'gzip' })
    expect([encoded.status, await encoded.json()]).toMatchObject([
      503,
      { limit: 'held_body_bytes' },
    ])
    const small = await put(gzipSync('{"output":1}'), { 'content-encoding': 'gzip' })
    expect(small.status).toBe(201)
  })

  it('are free again when their clients go', async () => {
    const gone = open('application/json')
    gone.write(BODY.subarray(0, -1))
    await heldUntil((bytes) => bytes > 0)
    gone.destroy()
    await heldUntil((bytes) => bytes === 0)
    expect((await put(BODY)).status).toBe(201)
  })

  it('hold nothing by what they only announce', async () => {
    for (let n = 0; n < 20; n++) open(TYPES[n % TYPES.length] as string)
    expect((await put(BODY)).status).toBe(201)
  })

  it('are held no more once they go to the ledger in pieces', async () => {
    const large = open('text/plain', 'transfer-encoding: chunked')
    const piece = Buffer.alloc(LIMIT_BYTES + 1, 'x')
    large.write(`${piece.length.toString(16)}\r\n`)
    large.write(piece.subarray(1))
    await heldUntil((bytes) => bytes > 0)
    large.write(`${piece.subarray(0, 1)}\r\n`)
    await heldUntil((bytes) => bytes === 0)
    expect((await put(BODY)).status).toBe(201)
    large.write('0\r\n\r\n')
    expect(await answerOf(large)).toMatch(/^HTTP\/1\.1 201 /)
  })
})
