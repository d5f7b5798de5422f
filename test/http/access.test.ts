import { afterAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { type Headers, startApi } from '../support/api.ts'

const TOKEN = 'a-token-of-some-length'

const local = await startApi()
const secured = await startApi({ COATCHECK_TOKEN: TOKEN })
const open = await startApi({ COATCHECK_ALLOW_UNAUTHENTICATED: '1' })
afterAll(async () => {
  for (const api of [local, secured, open]) await api.close()
})

const PATHS = ['/v1/runs', '/livez', '/readyz', '/metrics', '/docs', '/openapi.json', '/nowhere']

describe('without a token', () => {
  it.each([
    'localhost',
    'LOCALHOST:8080',
    '127.0.0.1',
    '127.0.0.1:1',
    '127.9.8.7:80',
    '[::1]',
    '[::1]:8080',
  ])('a Host of %s is served', async (host) => {
    expect((await local.call('GET', '/v1/runs', undefined, { host })).status).toBe(200)
  })

  it.each([
    'example.com',
    'example.com:8080',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '10.0.0.1',
    '192.168.0.1:8080',
    '0.0.0.0',
    '[::]',
    '[::2]',
    'localhost@example.com',
    'localhost:80:80',
  ])('a Host of %s is refused, on every path', async (host) => {
    for (const path of PATHS) {
      const { status, body } = await local.call('GET', path, undefined, { host })
      expect([path, status, body.code]).toEqual([path, 403, 'forbidden_origin'])
    }
  })

  it.each<readonly [string, Headers]>([
    ['a foreign Origin', { origin: 'https://example.com' }],
    ['an Origin of another port', { origin: 'http://localhost:1234' }],
    ['an opaque Origin', { origin: 'null' }],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site' }],
    ['a same-site fetch, of another port', { 'sec-fetch-site': 'same-site' }],
  ])('%s is refused, before anything is done', async (_, headers) => {
    const run = local.newRun()
    const put = await run.put('{"output":1}', { host: 'localhost:8080', ...headers })
    expect([put.status, put.body.code]).toEqual([403, 'forbidden_origin'])
    expect((await run.read()).status).toBe(404)
  })

  it.each<readonly [string, Headers]>([
    ['its own Origin', { origin: 'http://localhost:8080' }],
    ['a same-origin fetch', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8080' }],
    ['what a person types', { 'sec-fetch-site': 'none' }],
  ])('%s is served', async (_, headers) => {
    const { status } = await local
      .newRun()
      .put('{"output":1}', { host: 'localhost:8080', ...headers })
    expect(status).toBe(201)
  })
})

describe('without a token, but told that this is meant', () => {
  it('any Host and Origin is served', async () => {
    const headers = {
      host: 'example.com',
      origin: 'https://other.example',
      'sec-fetch-site': 'cross-site',
    }
    expect((await open.newRun().put('{"output":1}', headers)).status).toBe(201)
  })
})

describe('with a token', () => {
  const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })

  it('whoever has it is served, from any Host and Origin', async () => {
    const headers = { ...bearer(TOKEN), host: 'example.com', origin: 'https://other.example' }
    expect((await secured.newRun().put('{"output":1}', headers)).status).toBe(201)
    expect((await secured.call('GET', '/metrics', undefined, headers)).status).toBe(200)
  })

  it.each<readonly [string, Headers]>([
    ['none', {}],
    ['another', bearer('another')],
    ['a part of it', bearer(TOKEN.slice(0, -1))],
    ['more than it', bearer(`${TOKEN}x`)],
    ['an empty one', bearer('')],
    ['another scheme', { authorization: `Basic ${TOKEN}` }],
    ['only the token', { authorization: TOKEN }],
  ])('%s is a 401 that says how, and nothing is done', async (_, headers) => {
    for (const path of [
      '/v1/runs',
      '/v1/runs/run-x',
      '/metrics',
      '/v1/tools/recall',
      '/nowhere',
      '/docsx',
      '/livez/x',
    ]) {
      const answer = await secured.call('GET', path, undefined, headers)
      expect([path, answer.status, answer.body.code]).toEqual([path, 401, 'unauthorized'])
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/)
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/)
      expect(answer.text).not.toContain(TOKEN)
    }
    const run = secured.run('never')
    expect((await run.put('{"output":1}', headers)).status).toBe(401)
    expect((await secured.call('GET', run.path, undefined, bearer(TOKEN))).status).toBe(404)
  })

  it('health and the docs stay open', async () => {
    for (const path of [
      '/livez',
      '/readyz',
      '/openapi.json',
      '/openapi.yaml',
      '/docs',
      '/docs/',
      '/docs/json',
      '/livez?',
    ]) {
      const { status } = await secured.call('GET', path)
      expect([path, [200, 302, 404].includes(status)]).toEqual([path, true])
    }
  })
})

describe('the pages of the documentation', () => {
  it('load nothing from elsewhere, are framed by nobody, and no other origin is let in', async () => {
    for (const path of ['/docs/', '/docs/problems/not_found']) {
      const { headers } = await local.call('GET', path, undefined, { host: 'localhost' })
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
      })
    }
    const { headers } = await local.call('GET', '/docs/', undefined, { host: 'localhost' })
    expect(headers['content-security-policy']).toContain("default-src 'none'")
    for (const path of [...PATHS, '/docs/', '/v1/runs/a']) {
      for (const method of ['GET', 'OPTIONS'] as const) {
        const answer = await open.call(method, path, undefined, {
          origin: 'https://example.com',
          'access-control-request-method': 'GET',
        })
        const names = Object.keys(answer.headers).filter((name) =>
          name.startsWith('access-control'),
        )
        expect([method, path, names]).toEqual([method, path, []])
      }
    }
  })
})

describe('the settings', () => {
  it.each(['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.0.0.1.example.com'])(
    'refuse the address %s without a token',
    (host) => {
      expect(() => readConfig({ COATCHECK_HOST: host })).toThrow(/COATCHECK_TOKEN/)
      expect(readConfig({ COATCHECK_HOST: host, COATCHECK_TOKEN: TOKEN }).COATCHECK_HOST).toBe(host)
      const allowed = readConfig({ COATCHECK_HOST: host, COATCHECK_ALLOW_UNAUTHENTICATED: '1' })
      expect(allowed.COATCHECK_HOST).toBe(host)
    },
  )

  it.each(['127.0.0.1', 'localhost', '::1', '127.1.2.3'])(
    'take the address %s without one',
    (host) => {
      expect(readConfig({ COATCHECK_HOST: host }).COATCHECK_HOST).toBe(host)
    },
  )

  it.each([
    ['COATCHECK_PORT', '65536'],
    ['COATCHECK_PORT', 'http'],
    ['COATCHECK_PORT', '-1'],
    ['COATCHECK_VERBATIM_LIMIT_CHARS', '1999'],
    ['COATCHECK_VERBATIM_LIMIT_CHARS', '1000001'],
    ['COATCHECK_MAX_JSON_BODY_BYTES', '12'],
    ['COATCHECK_MAX_RAW_BODY_BYTES', '9999999999999'],
    ['COATCHECK_RUN_TTL_SECONDS', '0'],
    ['COATCHECK_RUN_TTL_SECONDS', '1.5'],
    ['COATCHECK_MAX_JSON_DEPTH_LEVELS', '100000'],
    ['COATCHECK_LOG_LEVEL', 'loud'],
    ['COATCHECK_ALLOW_UNAUTHENTICATED', 'yes'],
  ])('refuse %s=%s, by its name', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name)
  })

  it('take an empty setting as none', () => {
    expect(readConfig({ COATCHECK_PORT: '', COATCHECK_TOKEN: '' })).toMatchObject({
      COATCHECK_PORT: 8080,
    })
  })
})
