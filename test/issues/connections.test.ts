// What clients send that is no good HTTP, over real sockets.
import { execFile, spawnSync } from 'node:child_process'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const execute = promisify(execFile)

const LIMIT_BYTES = 4096
const BODY = Buffer.alloc(5_000_000, 0x78)

const api = await startApi({
  COATCHECK_MAX_JSON_BODY_BYTES: String(LIMIT_BYTES),
  COATCHECK_MAX_RAW_BODY_BYTES: String(LIMIT_BYTES),
})
const url = await api.listen()
const { host } = new URL(url)
afterAll(() => api.close())

/** Sends the whole of `BODY`; rejects when the connection breaks before the answer is read. */
function upload(
  path: string,
  {
    type,
    agent,
    chunked,
  }: { readonly type: string; readonly agent: Agent; readonly chunked: boolean },
): Promise<{ readonly status: number | undefined; readonly text: string }> {
  const length = chunked
    ? { 'transfer-encoding': 'chunked' }
    : { 'content-length': String(BODY.length) }
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, ...length }
    const call = request(url + path, { method: 'POST', headers, agent }, (reply) => {
      let text = ''
      reply.setEncoding('utf8').on('data', (piece: string) => {
        text += piece
      })
      reply.on('error', reject)
      reply.on('end', () => resolve({ status: reply.statusCode, text }))
    })
    call.on('error', reject)
    call.end(BODY)
  })
}

/** As a blocking client does it: everything is sent before anything is read, or else it fails. */
const BLOCKING = `
import socket, sys
port, head, size = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with socket.create_connection(('127.0.0.1', port)) as s:
    s.sendall(head.encode() + b'x' * size)
    answer = b''
    while b'body_too_large' not in answer:
        piece = s.recv(65536)
        if not piece: break
        answer += piece
print(answer.decode())
`
const hasPython = spawnSync('python3', ['--version']).status === 0

describe('a body that is far too large', () => {
  // Fault: the connection was reset while the client still sent, and the answer was lost on its way.
  it.each([
    ['with a length', 'application/json', 'json_body_bytes', false],
    ['with a length', 'text/plain', 'raw_body_bytes', false],
    ['in chunks', 'application/json', 'json_body_bytes', true],
    ['in chunks', 'text/plain', 'raw_body_bytes', true],
  ] as const)('%s as %s is answered where the client reads it', async (_, type, limit, chunked) => {
    const run = api.newRun()
    for (const keepAlive of [true, false]) {
      const agent = new Agent({ keepAlive })
      for (let n = 0; n < 5; n++) {
        const { status, text } = await upload(`${run.path}/results`, { type, agent, chunked })
        expect(status).toBe(413)
        expect(JSON.parse(text)).toMatchObject({
          code: 'body_too_large',
          limit,
          value: LIMIT_BYTES,
        })
      }
      agent.destroy()
    }
    expect((await run.read()).status).toBe(404)
    expect((await run.put('{"output":1}')).body.handle).toBe('r1')
  })

  it.skipIf(!hasPython).each(['keep-alive', 'close'])(
    'is answered where the client sends it all before it reads, and would then %s',
    async (connection) => {
      const run = api.newRun()
      const head = `POST ${run.path}/results HTTP/1.1\r\nhost: ${host}\r\nconnection: ${connection}\r\ncontent-type: text/plain\r\ncontent-length: ${BODY.length}\r\n\r\n`
      const args = ['-c', BLOCKING, new URL(url).port, head, String(BODY.length)]
      for (let n = 0; n < 5; n++) {
        const { stdout } = await execute('python3', args)
        expect(stdout).toMatch(/^HTTP\/1\.1 413 /)
        expect(stdout).toContain('"limit":"raw_body_bytes"')
      }
      expect((await run.read()).status).toBe(404)
    },
  )

  it('is read to its end, and a connection that was to close is closed then', async () => {
    const head = `POST /v1/runs/closes/results HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: ${BODY.length}\r\n\r\n`
    const answer = await rawRequest(url, Buffer.concat([Buffer.from(head), BODY]))
    const { status, body } = answer
    expect(status).toBe(413)
    // Fault: it was kept open to be read, and said so.
    expect(answer.head).toMatch(/^connection: close$/im)
    expect(answer.head).not.toMatch(/keep-alive/i)
    expect(JSON.parse(body)).toMatchObject({ limit: 'raw_body_bytes', value: LIMIT_BYTES })
  })

  it('is answered where fetch reads it', async () => {
    const run = api.newRun()
    for (let n = 0; n < 5; n++) {
      const reply = await fetch(`${url}${run.path}/results`, {
        method: 'POST',
        headers: { 'content-type': 'text/plain' },
        body: BODY,
      })
      expect(reply.status).toBe(413)
      expect(await reply.json()).toMatchObject({ code: 'body_too_large' })
    }
    expect((await run.read()).status).toBe(404)
  })
})

describe('what is no HTTP', () => {
  const post = (headers: string, body: string): string =>
    `POST /v1/runs/garbage/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\n${headers}\r\n${body}`

  // Fault: what could not be parsed was answered by another hand, without a code.
  it.each([
    ['garbage', 'nonsense\r\n\r\n', /HPE_/],
    ['bytes of TLS', Buffer.from('16030100a5010000a10303', 'hex'), /HPE_/],
    ['a line of HTTP/9', 'GET /livez HTTP/9.9\r\n\r\n', /HPE_/],
    ['a header without a colon', `GET /livez HTTP/1.1\r\nhost: ${host}\r\nnone\r\n\r\n`, /HPE_/],
    ['a bad chunk', post('transfer-encoding: chunked\r\n', 'zz\r\nhello\r\n0\r\n\r\n'), /HPE_/],
    [
      'both content-length and transfer-encoding',
      post('content-length: 5\r\ntransfer-encoding: chunked\r\n', '0\r\n\r\n'),
      /HPE_/,
    ],
    ['two lengths', post('content-length: 5\r\ncontent-length: 6\r\n', 'hello'), /HPE_/],
    ['a length that is none', post('content-length: five\r\n', 'hello'), /HPE_/],
    [
      'a header of 20 kB',
      `GET /livez HTTP/1.1\r\nhost: ${host}\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
      /headers are too large: 16 KiB/,
    ],
  ])('gets a problem, and the connection ends: %s', async (_, bytes, detail) => {
    const { status, head, body } = await rawRequest(url, bytes)
    expect(status).toBe(400)
    expect(head).toMatch(/^content-type: application\/problem\+json/im)
    expect(head).toMatch(/^connection: close$/im)
    const length = /^content-length: (\d+)$/im.exec(head)?.[1]
    expect(length).toBe(String(Buffer.byteLength(body)))
    const problem = JSON.parse(body) as Readonly<Record<string, unknown>>
    expect(problem).toMatchObject({
      type: '/docs/problems/invalid_request',
      status: 400,
      code: 'invalid_request',
    })
    expect(problem['title']).toBeTruthy()
    expect(problem['instance']).toMatch(/^[0-9a-f-]{36}$/)
    expect(problem['detail']).toMatch(detail)
  })

  // Fault: the body of the problem came after the headers, where a client that reads HEAD looks for the next answer.
  it('gets no body where it asks for headers alone', async () => {
    const large = `HEAD /livez HTTP/1.1\r\nhost: ${host}\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`
    const { status, head, body } = await rawRequest(url, large)
    expect([status, body]).toEqual([400, ''])
    expect(head).toMatch(/^content-length: [1-9]/im)
    expect(head).toMatch(/^connection: close$/im)
  })

  it('leaves the service as it was: nothing is kept, and the next is served', async () => {
    await rawRequest(url, post('transfer-encoding: chunked\r\n', '5\r\nhello\r\nzz\r\n'))
    expect((await api.run('garbage').read()).status).toBe(404)
    expect((await fetch(`${url}/livez`)).status).toBe(200)
  })
})

describe('an id that reads in two ways', () => {
  // Fault: a query that was no UTF-8 was read as other ids; a header that came twice was joined to one.
  it.each(['?tool_use_id=%ff', '?tool_use_id=%c3%28', '?tool_use_id=a%', '?x=%zz'])(
    'is refused in a query: %s',
    async (query) => {
      const run = api.newRun()
      const answers = [
        await run.putRaw('x', 'text/plain', query),
        await run.list(query),
        await api.json('POST', `${run.path}/results${query}`, '{"output":1}'),
      ]
      for (const { status, body } of answers) {
        expect([status, body.code]).toEqual([400, 'invalid_request'])
        expect(body.detail).toContain('percent-encoded')
      }
      expect((await run.read()).status).toBe(404)
    },
  )

  it('is kept from a query that is UTF-8', async () => {
    const run = api.newRun()
    const { status, body } = await run.putRaw('x', 'text/plain', '?tool_use_id=%C3%A9%25%2B')
    expect([status, body.evidence_id]).toEqual([201, 'é%+'])
  })

  it.each(['Coatcheck-Tool-Use-Id', 'Idempotency-Key'])(
    'is refused in a header that comes twice: %s',
    async (name) => {
      const lines = (names: readonly string[]): string =>
        names.map((line, n) => `${line}: a${n}\r\n`).join('')
      const put = (names: readonly string[]) =>
        rawRequest(
          url,
          `POST /v1/runs/twice-${name}/results HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 1\r\n${lines(names)}\r\nx`,
        )
      const twice = await put([name, name.toUpperCase()])
      expect(twice.status).toBe(400)
      expect(JSON.parse(twice.body)).toMatchObject({ code: 'invalid_request' })
      expect(twice.body.toLowerCase()).toContain(`${name.toLowerCase()} was sent more than once`)
      expect((await api.run(`twice-${name}`).read()).status).toBe(404)
      expect((await put([name])).status).toBe(201)
    },
  )
})

describe('a body that is refused and goes on for ever', () => {
  // Fault: of anybody, gigabytes were read and dropped.
  it('has its connection closed when it is of nobody that is known', async () => {
    const secured = await startApi({ COATCHECK_TOKEN: 'a-token-of-some-length' })
    const { hostname, port } = new URL(await secured.listen())
    const socket = connect(Number(port), hostname)
    try {
      let answer = ''
      socket.setEncoding('utf8').on('data', (text: string) => {
        answer += text
      })
      socket.on('error', () => undefined)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      socket.write(
        `POST /v1/runs/a/results HTTP/1.1\r\nhost: ${hostname}\r\ntransfer-encoding: chunked\r\ncontent-type: text/plain\r\n\r\n`,
      )
      const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`
      const send = (): void => {
        while (!socket.destroyed && socket.write(chunk));
      }
      socket.on('drain', send)
      send()
      await closed
      expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    } finally {
      socket.destroy()
      await secured.close()
    }
  })
})
