// Parts of requests that a route does not have: query members, bodies, and codings of bodies without a byte.
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { exampleRequests } from '../../scripts/openapi/example-requests.ts'
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'
import { startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const api = await startApi()
const url = await api.listen()
const { host } = new URL(url)
afterAll(() => api.close())

const OUTSIDE_OF_THE_DOCUMENT = [
  '/openapi.json',
  '/openapi.yaml',
  '/docs/problems',
  '/docs/problems/not_found',
].map((url) => ({ method: 'GET' as const, url, payload: undefined }))

describe('a query member that the route does not have', () => {
  const operations = exampleRequests(api.app.swagger() as unknown as OpenApiDocument)

  it('is tried on all operations', () => {
    expect(operations.length).toBeGreaterThan(20)
  })

  // Fault: a route without a query took any, as `/livez?x=1`.
  it.each([...operations, ...OUTSIDE_OF_THE_DOCUMENT])(
    'is a 400: $method $url',
    async ({ method, url: target, payload }) => {
      const query = `${target.includes('?') ? '&' : '?'}no_such_member=1`
      const headers = payload === undefined ? {} : { 'content-type': 'application/json' }
      const { status, body } = await api.call(method, target + query, payload, headers)
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.detail).toContain('The query has the unknown member "no_such_member"')
    },
  )

  it('is ignored by the page and the files of Swagger UI', async () => {
    expect((await api.call('GET', '/docs/static/index.css?v=2')).status).toBe(200)
    expect((await api.call('GET', '/docs?v=2')).status).toBe(200)
    expect((await api.call('GET', '/?v=2')).status).toBe(302)
  })
})

const BODYLESS = [
  ['GET', '/v1/runs'],
  ['HEAD', '/v1/runs'],
  ['DELETE', '/v1/runs/bodyless'],
  ['GET', '/livez'],
  ['GET', '/docs/static/index.css'],
] as const
const TYPES = [
  'application/json',
  'application/xml',
  'application/json; charset=latin1',
  'none',
  '',
]

const requestOf = (
  method: string,
  path: string,
  headers: readonly string[],
  body: string,
): string =>
  [`${method} ${path} HTTP/1.1`, `host: ${host}`, 'connection: close', ...headers, '', body].join(
    '\r\n',
  )

describe.each(BODYLESS)('%s %s', (method, path) => {
  const typeHeaders = (type: string): string[] => (type === '' ? [] : [`content-type: ${type}`])

  // Fault: GET and DELETE ignored a JSON body, and DELETE answered 415 to any other.
  it.each(TYPES)('takes no body of the type %j', async (type) => {
    for (const [header, body] of [
      ['content-length: 2', '{}'],
      ['transfer-encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
    ] as const) {
      const request = requestOf(method, path, [...typeHeaders(type), header], body)
      const reply = await rawRequest(url, request)
      expect(reply.status).toBe(400)
      if (method !== 'HEAD') expect(reply.body).toContain(`This ${method} takes no body`)
    }
  })

  it.each(TYPES)('takes an empty body of the type %j', async (type) => {
    for (const [header, body] of [
      ['content-length: 0', ''],
      ['transfer-encoding: chunked', '0\r\n\r\n'],
    ] as const) {
      const request = requestOf(method, path, [...typeHeaders(type), header], body)
      expect((await rawRequest(url, request)).status).toBe(200)
    }
  })
})

describe('a body without a byte that is said to be encoded', () => {
  const EMPTY = [
    ['content-length: 0', ''],
    ['transfer-encoding: chunked', '0\r\n\r\n'],
    ['accept: */*', ''],
  ] as const
  const CASES = ['gzip', 'x-gzip', 'zstd'].flatMap((coding) =>
    EMPTY.flatMap(([header, body]) =>
      ['text/plain', 'application/json'].map((type) => [coding, header, type, body] as const),
    ),
  )

  // Fault: it was kept as an empty text with a 201.
  it.each(CASES)(
    'is refused like a truncated one: %s, %s, %s',
    async (coding, header, type, body) => {
      const run = api.newRun()
      const headers = [`content-type: ${type}`, `content-encoding: ${coding}`, header]
      const reply = await rawRequest(url, requestOf('POST', `${run.path}/results`, headers, body))
      expect(reply.status).toBe(400)
      expect(reply.body).toContain('The body is not what its content-encoding says')
      expect((await run.read()).status).toBe(404)
    },
  )

  it('of which the decoded text is empty is kept', async () => {
    const put = await api
      .newRun()
      .putRaw(gzipSync(''), 'text/plain', '', { 'content-encoding': 'gzip' })
    expect([put.status, put.body.total_bytes]).toEqual([201, 0])
  })
})
