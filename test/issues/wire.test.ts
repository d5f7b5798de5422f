// What clients send over real sockets that is odd, slow or meant for another reader.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const SECOND_MS = 1000
const api = await startApi({
  COATCHECK_HEADERS_TIMEOUT_SECONDS: '1',
  COATCHECK_BODY_IDLE_SECONDS: '1',
})
const url = await api.listen()
const { host, hostname, port } = new URL(url)
afterAll(() => api.close())

let runs = 0
const newPath = (): string => `/v1/runs/wire-${++runs}`

const put = (path: string, headers: string, body = 'x', type = 'content-type: text/plain\r\n') =>
  `POST ${path}/results HTTP/1.1\r\nhost: ${host}\r\n${type}${headers}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`

interface Talk {
  readonly socket: Socket
  /** What came so far. */
  text(): string
  /** Resolves when the other side ends it. */
  readonly ended: Promise<unknown>
}

async function talk(): Promise<Talk> {
  const socket = connect({ host: hostname, port: Number(port) })
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => {
    text += piece
  })
  socket.on('error', () => undefined)
  const ended = once(socket, 'close')
  await once(socket, 'connect')
  return { socket, text: () => text, ended }
}

const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

describe('a header that comes twice', () => {
  it.each([
    ['content-type', 'text/plain', 'application/json'],
    ['Content-Type', 'text/plain', 'text/plain'],
    ['content-encoding', 'gzip', 'gzip'],
    ['host', 'localhost', 'example.com'],
    ['authorization', 'Bearer a', 'Bearer b'],
    ['coatcheck-tool-use-id', 'a', 'b'],
    ['idempotency-key', 'a', 'b'],
    ['origin', 'http://localhost', 'http://localhost'],
  ])('is refused, and nothing is kept: %s', async (name, first, second) => {
    const path = newPath()
    const own = name === 'host' ? '' : `host: ${host}\r\n`
    const { status, body } = await rawRequest(
      url,
      `POST ${path}/results HTTP/1.1\r\n${own}${name}: ${first}\r\n${name.toUpperCase()}: ${second}\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx`,
    )
    expect(status).toBe(400)
    expect(JSON.parse(body)).toMatchObject({ code: 'invalid_request' })
    expect(body).toContain(`${name.toLowerCase()} was sent more than once`)
    expect((await api.call('GET', path)).status).toBe(404)
  })

  it('is one where more than one is meant', async () => {
    const { status } = await rawRequest(url, put(newPath(), 'accept: a/b\r\naccept: c/d\r\n'))
    expect(status).toBe(201)
  })
})

describe('a body that stops', () => {
  // Fault: it was not looked at where its query had been refused before.
  it('is given up after its request was refused, too', async () => {
    const { socket, text, ended } = await talk()
    socket.write(
      `POST ${newPath()}/results?x=%zz HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"o`,
    )
    await ended
    expect(statusesIn(text())[0]).toBe(400)
  })
})

describe('a request with an odd frame', () => {
  it('without a host is a problem', async () => {
    const answer = await rawRequest(url, 'GET /livez HTTP/1.1\r\nconnection: close\r\n\r\n')
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'invalid_request' })
  })

  it.each(['gzip, chunked', 'identity, chunked', 'chunked, chunked'])(
    'in a transfer-encoding that is not undone is never kept: %s',
    async (coding) => {
      const path = newPath()
      const { status, body } = await rawRequest(
        url,
        `POST ${path}/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ntransfer-encoding: ${coding}\r\nconnection: close\r\n\r\n1\r\nx\r\n0\r\n\r\n`,
      )
      expect(status).toBe(400)
      expect(body).toContain('invalid_request')
      expect((await api.call('GET', path)).status).toBe(404)
    },
  )

  it.each([
    ['no type', ''],
    ['an empty type', 'content-type:\r\n'],
    ['a type that is none', 'content-type: json\r\n'],
    ['a wild type', 'content-type: */*\r\n'],
    ['a list of types', 'content-type: text/plain, application/json\r\n'],
  ])('with %s is a 415 that names the choices', async (_, type) => {
    const { status, body } = await rawRequest(url, put(newPath(), '', 'x', type))
    expect([status, (JSON.parse(body) as { code: string }).code]).toEqual([
      415,
      'unsupported_media_type',
    ])
    expect(body).toContain('application/json')
  })

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json-patch+json'])(
    'with the type %s where JSON is needed is a 415',
    async (type) => {
      const { status, body } = await api.call('POST', '/v1/content-string', '{"value":1}', {
        'content-type': type,
      })
      expect([status, body.code]).toEqual([415, 'unsupported_media_type'])
    },
  )
})

describe('an id', () => {
  it('of 1.5 KB with + / = works in the body, the query and the header, and is recalled', async () => {
    const id = `${'aB3+/'.repeat(300)}==`
    const query = `?tool_use_id=${encodeURIComponent(id)}`
    const ways = [
      (path: string) => rawRequest(url, put(path, `coatcheck-tool-use-id: ${id}\r\n`)),
      (path: string) =>
        rawRequest(url, put(path, '').replace('/results HTTP', `/results${query} HTTP`)),
      (path: string) => {
        const body = JSON.stringify({ tool_use_id: id, output: 'x' })
        return rawRequest(url, put(path, '', body, 'content-type: application/json\r\n'))
      },
    ]
    for (const way of ways) {
      const path = newPath()
      const answer = await way(path)
      expect([answer.status, JSON.parse(answer.body) as object]).toMatchObject([
        201,
        { evidence_id: id },
      ])
      const recalled = await api.json('POST', `${path}/recall`, JSON.stringify({ id }))
      expect(recalled.body).toMatchObject({ content: 'x', evidence_id: id })
      const listed = await api.call('GET', `${path}/results${query}`)
      expect(listed.body['items']).toHaveLength(1)
    }
  })

  it.each([
    '/v1/runs/..',
    '/v1/runs/%2e%2e',
    '/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    '/v1/runs/..%5c..%5c',
    '/v1/runs/a%00b',
    '/v1/runs/a/results/..%2f..%2fb',
    '/v1/runs/a/tools/..%2f..%2fb',
    '/v1/../livez/../v1/runs',
    '/docs/static/..%2f..%2f..%2fpackage.json',
    '/docs/static/../../../package.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/docs/problems/..%2f..%2f..%2f..%2fpackage.json',
    '/docs/problems/%2e%2e%2fproblems',
    '//etc/passwd',
  ])('or a path that climbs gets nowhere: %s', async (path) => {
    const { status, body } = await rawRequest(
      url,
      `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
    )
    expect([400, 404, 405]).toContain(status)
    expect(JSON.parse(body)).toHaveProperty('code')
    expect(body).not.toMatch(/root:|"dependencies"/)
  })
})

describe('a method', () => {
  it('HEAD answers as GET does, without a body', async () => {
    const path = newPath()
    await rawRequest(url, put(path, '', 'twelve bytes'))
    for (const [of, length] of [
      [`${path}/results/r1/value`, '12'],
      ['/livez', '15'],
    ] as const) {
      const { status, head, body } = await rawRequest(
        url,
        `HEAD ${of} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      )
      expect([status, body]).toEqual([200, ''])
      expect(/^content-length: (\d+)$/im.exec(head)?.[1]).toBe(length)
    }
  })

  it.each(['OPTIONS', 'TRACE', 'PATCH'])(
    '%s is refused with what the path takes, and allows no origin',
    async (method) => {
      const { status, head, body } = await rawRequest(
        url,
        `${method} /v1/runs HTTP/1.1\r\nhost: ${host}\r\naccess-control-request-method: GET\r\nconnection: close\r\n\r\n`,
      )
      expect(status).toBe(405)
      expect(head).toMatch(/^allow: .*GET/im)
      expect(head).not.toMatch(/access-control/i)
      expect(body).toContain('method_not_allowed')
    },
  )

  it.each(['OPTIONS *', 'GET *', 'CONNECT example.com:80', 'BREW /v1/runs', 'get /livez'])(
    'or target that is odd harms nothing: %s',
    async (line) => {
      const { status } = await rawRequest(
        url,
        `${line} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      )
      expect(Number.isNaN(status) || (status >= 400 && status < 500)).toBe(true)
      expect((await fetch(`${url}/livez`)).status).toBe(200)
    },
  )
})

describe('a connection', () => {
  it('is told to go on where the client asks first', async () => {
    const path = newPath()
    const { socket, text, ended } = await talk()
    socket.write(
      `POST ${path}/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ncontent-length: 4\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n`,
    )
    while (!text().includes('\r\n\r\n')) await sleep(5)
    expect(statusesIn(text())).toEqual([100])
    socket.write('body')
    await ended
    expect(statusesIn(text())).toEqual([100, 201])
  })

  it('answers what is pipelined, in order', async () => {
    const path = newPath()
    const { socket, text, ended } = await talk()
    const keep = (request: string) => request.replace('connection: close\r\n', '')
    const bodies = ['a', 'b', 'c'].map((body) => keep(put(path, '', body)))
    socket.write(
      `${bodies.join('')}GET /livez HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
    )
    await ended
    expect(statusesIn(text())).toEqual([201, 201, 201, 200])
    expect(text().match(/"handle":"r\d"/g)).toEqual(
      ['r1', 'r2', 'r3'].map((h) => `"handle":"${h}"`),
    )
    expect(text().endsWith('{"status":"ok"}')).toBe(true)
    expect((await api.call('GET', `${path}/results/r2/value`)).text).toBe('b')
  })

  it.each([
    ['headers', 'GET /livez HTTP/1.1\r\nhost: '],
    ['a body', put('/v1/runs/slow', '').replace('content-length: 1', 'content-length: 9')],
    ['chunks', put('/v1/runs/slow', '').replace('content-length: 1', 'transfer-encoding: chunked')],
  ])('that stops in the middle of %s is told and ended', async (_, begun) => {
    const { socket, text, ended } = await talk()
    // what the chunked body begins with would be read as a chunk's size
    socket.write(begun.replace(/x$/, ''))
    await ended
    expect(statusesIn(text())).toEqual([400])
    expect(text()).toContain('did not arrive in time')
    expect((await api.call('GET', '/v1/runs/slow')).status).toBe(404)
  })

  it('of a client that neither goes on nor closes is closed for it', async () => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write('GET /livez HTTP/1.1\r\nhost: ')
    await once(socket, 'end')
    const before = await connections()
    while ((await connections()) >= before) await sleep(50)
    socket.destroy()
  })

  it('with a body that is slow but goes on is served', async () => {
    const path = newPath()
    const { socket, text, ended } = await talk()
    const body = '0123456789'
    socket.write(put(path, '', body).slice(0, -body.length))
    for (const digit of body) {
      await sleep(SECOND_MS / 3)
      socket.write(digit)
    }
    await ended
    expect(statusesIn(text())).toEqual([201])
    expect((await api.call('GET', `${path}/results/r1/value`)).text).toBe(body)
  })
})

const connections = (): Promise<number> =>
  new Promise((resolve, reject) =>
    api.app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

describe('while the service closes', () => {
  it('idle connections end, and one in flight is answered and then ended', async () => {
    const closing = await startApi()
    const base = await closing.listen()
    const open = (): Socket => connect({ host: '127.0.0.1', port: Number(new URL(base).port) })
    const [idle, busy] = [open(), open()]
    const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: ${new URL(base).host}\r\n\r\n`
    idle.write(request('/livez'))
    await once(idle, 'data')
    let answer = ''
    busy.setEncoding('utf8').on('data', (text: string) => {
      answer += text
    })
    const body = 'x'.repeat(100)
    busy.write(
      `POST /v1/runs/a/results HTTP/1.1\r\nhost: ${new URL(base).host}\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\nx`,
    )
    await sleep(50)
    const [idleEnd, busyEnd] = [once(idle.resume(), 'close'), once(busy, 'close')]
    const closed = closing.close()
    await idleEnd
    busy.write(body.slice(1))
    await busyEnd
    await closed
    expect(answer).toMatch(/^HTTP\/1\.1 201 /)
    expect(answer).toMatch(/^connection: close$/im)
  })
})
