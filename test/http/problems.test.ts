import { afterAll, describe, expect, it } from 'vitest'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { buildApp } from '../../src/http/app.ts'
import { type Answer, startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const api = await startApi()
const url = await api.listen()
afterAll(() => api.close())

function expectProblem({ status, headers, body, text }: Answer<object>): void {
  expect(headers['content-type']).toMatch(/^application\/problem\+json/)
  expect(body).toMatchObject({ status, type: `/docs/problems/${body.code}` })
  expect(body.code).toMatch(/^[a-z0-9_]+$/)
  expect(body.title).toBeTruthy()
  expect(body.detail).toBeTruthy()
  expect(body.instance).toBe(headers['x-request-id'])
  expect(text.isWellFormed()).toBe(true)
}

describe('a problem', () => {
  it('is problem+json with code, detail and the request id, whatever went wrong', async () => {
    const run = api.newRun()
    await run.putRaw('x', 'image/png')
    const long = 'x'.repeat(9000)
    const answers: readonly Answer<object>[] = [
      await run.put('{'),
      await run.put('{"output":1,"x":2}'),
      await run.putRaw('x', 'text/plain; charset=latin1'),
      await run.open('{"ttl_seconds":0}'),
      await run.recall('{"id":"r1"}'),
      await run.recall('{"id":"r9"}'),
      await run.resolve('{"arguments":1,"tool_name":"t"}'),
      await run.resolve('{"arguments":1,"input_schema":{"type":"x"}}'),
      await run.value('r1', '?path=a'),
      await run.value('r1', '', { range: 'bytes=9-' }),
      await run.result('r9'),
      await api.call('GET', '/nowhere'),
      await api.call('GET', '/v1/nowhere?x=1'),
      await api.call('DELETE', '/v1/preview'),
      await api.call('PATCH', run.path),
      await api.call('GET', '/v1/runs/%zz'),
      await api.call('GET', '/v1/runs/%ff'),
      await api.call('GET', `/v1/runs/${long}`),
      await api.call('GET', `${run.path}/results/${long}`),
      await api.call('GET', '/docs/problems/none'),
      await api.json('POST', '/v1/preview', '{"handle":"r1"}'),
      await api.call('POST', '/v1/content-string'),
    ]
    for (const answer of answers) {
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      expectProblem(answer)
    }
  })

  it('of an unknown route says which', async () => {
    const { status, body } = await api.call('POST', '/v1/rusn?x=1')
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.detail).toContain('POST /v1/rusn')
  })

  it.each([
    '//',
    '//x',
    '/%',
    '/%c3%28',
    '/v1/%2e%2e/x',
    '*',
    '/v1/runs/a/results/r1/value?path=%zz',
    '/?%',
    'http://[/',
  ])('is an answer to any path, also over a socket: %s', async (path) => {
    const { head } = await rawRequest(
      url,
      `GET ${path} HTTP/1.1\r\nhost: ${new URL(url).host}\r\nconnection: close\r\n\r\n`,
    )
    expect(head).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(head).toMatch(/content-type: application\/problem\+json/i)
    expect((await api.call('GET', '/livez')).status).toBe(200)
  })

  it('is an answer to what is no HTTP at all', async () => {
    for (const bytes of [
      'nonsense\r\n\r\n',
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    ]) {
      expect((await rawRequest(url, bytes)).head).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    expect((await api.call('GET', '/livez')).status).toBe(200)
  })
})

describe('the request id', () => {
  it.each(['abc', 'a.b_c:d-1', 'x'.repeat(128)])(
    'is kept where it is a plain one: %s',
    async (id) => {
      const ok = await api.call('GET', '/livez', undefined, { 'x-request-id': id })
      const problem = await api.call('GET', '/nowhere', undefined, { 'x-request-id': id })
      expect(ok.headers['x-request-id']).toBe(id)
      expect([problem.headers['x-request-id'], problem.body.instance]).toEqual([id, id])
    },
  )

  it.each(['', ' ', 'a b', 'é', 'x'.repeat(129), '<script>', 'a"b'])(
    'is replaced where it is odd: %j',
    async (id) => {
      const { headers } = await api.call('GET', '/livez', undefined, { 'x-request-id': id })
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  it('is another for each request that brings none', async () => {
    const ids = []
    for (let n = 0; n < 3; n++) ids.push((await api.call('GET', '/livez')).headers['x-request-id'])
    expect(new Set(ids).size).toBe(3)
  })
})

describe('what went wrong in here', () => {
  const SECRET = 'disk 7 at /var/secret is on fire'

  /** The service over a ledger that fails in every call. */
  const broken = (error: Error) =>
    buildApp({
      maxHeldAnswerBytes: 1_048_576,
      context: {
        ledger: new Proxy(
          {},
          {
            get: (_, name) =>
              name === 'then'
                ? undefined
                : name === 'touch'
                  ? () => undefined
                  : () => Promise.reject(error),
          },
        ) as never,
        validator: {} as never,
        limits: {
          maxJsonDepthLevels: 64,
          defaultVerbatimChars: 2000,
          maxVerbatimChars: 2000,
          maxResolvedBytes: 1024,
          maxReferences: 1_000,
          maxErrors: 20,
          maxToolsPerRun: 1_000,
          maxListBytes: 4_194_304,
          inlineBytes: 262_144,
        },
        now: () => 0,
      },
      bodyLimits: {
        maxHeldBytes: 1_000_000,
        maxJsonBodyBytes: 1024,
        maxRawBodyBytes: 1024,
        maxJsonDepthLevels: 64,
        maxDecompressionRatio: 200,
        inlineBytes: 262_144,
      },
      access: { tokens: undefined, allowUnauthenticated: false },
    })

  it.each([
    ['an error', new Error(SECRET), 500, 'internal_error'],
    [
      'a system error',
      Object.assign(new Error(SECRET), { code: 'EIO', syscall: 'read' }),
      500,
      'internal_error',
    ],
    [
      'an error with a status',
      Object.assign(new Error(SECRET), { statusCode: 503 }),
      503,
      'overloaded',
    ],
  ])('is not shown: %s', async (_, error, status, code) => {
    const app = await broken(error)
    for (const path of ['/v1/runs', '/v1/runs/a', '/v1/runs/a/results']) {
      const reply = await app.inject(path)
      expect([reply.statusCode, reply.json().code]).toEqual([status, code])
      expect(reply.headers['content-type']).toMatch(/^application\/problem\+json/)
      expect(reply.payload).not.toContain('secret')
    }
    const ready = await app.inject('/readyz')
    expect([ready.statusCode, ready.payload.includes('secret')]).toEqual([503, false])
    await app.close()
  })

  it('is not shown either where the ledger says it', async () => {
    const { CoatcheckError } = await import('../../src/core/errors.ts')
    for (const [code, status] of [
      ['ledger_unavailable', 503],
      ['ledger_corrupt', 500],
      ['storage_full', 507],
    ] as const) {
      const app = await broken(new CoatcheckError(code, SECRET))
      const reply = await app.inject('/v1/runs/a')
      expect([reply.statusCode, reply.json().code]).toEqual([status, code])
      expect(reply.payload).not.toContain('secret')
      expect(reply.json().detail).toBeTruthy()
      expect(reply.headers['retry-after']).toBe(status === 503 ? '1' : undefined)
      await app.close()
    }
  })
})

describe('a path that there is, with a method that it does not take', () => {
  it('is a 405 that names those it takes, in the header too', async () => {
    const answer = await api.call('DELETE', '/v1/runs')
    expect(answer.status).toBe(405)
    expect(answer.body).toMatchObject({ code: 'method_not_allowed', allow: 'GET, HEAD' })
    expect(answer.headers['allow']).toBe('GET, HEAD')
  })

  // as curl -T sends it
  it.each([
    ['PUT', '/v1/runs/a/results', 405],
    ['PATCH', '/v1/runs/a/results', 405],
    ['PUT', '/v1/nothing', 404],
  ] as const)('%s %s is a %i whatever the body is', async (method, url, status) => {
    for (const type of ['text/plain', 'application/octet-stream', 'application/json']) {
      const headers = { 'content-type': type }
      const answer = await api.call(method, url, 'x'.repeat(2_000_000), headers)
      expect(answer.status).toBe(status)
    }
  })
})

describe('the list of problems', () => {
  it('has a line with the page of every code', async () => {
    const { text } = await api.call('GET', '/docs/problems')
    for (const code of ERROR_CODES) expect(text).toContain(`/docs/problems/${code}\n`)
  })
})
