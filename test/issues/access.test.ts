// Paths with a slash at their end, and what is said to whoever has no token.
import { afterAll, describe, expect, it } from 'vitest'
import { type Headers, startApi } from '../support/api.ts'

const TOKEN = 'a-token-of-some-length'

const secured = await startApi({ COATCHECK_TOKEN: TOKEN })
const local = await startApi()
afterAll(async () => {
  for (const api of [secured, local]) await api.close()
})

describe('a slash at the end of a path', () => {
  // Fault: the route was found, but the path was none of the open ones.
  it.each(['/livez', '/readyz', '/openapi.json', '/openapi.yaml', '/docs/problems'])(
    'changes nothing of who may read it: %s',
    async (path) => {
      const [plain, slashed] = [
        await secured.call('GET', path),
        await secured.call('GET', `${path}/`),
      ]
      expect([plain.status, slashed.status]).toEqual([200, 200])
      expect(slashed.text).toBe(plain.text)
      // open too, but no query member of theirs
      expect((await secured.call('GET', `${path}/?x=1`)).status).toBe(400)
    },
  )

  it('opens nothing else', async () => {
    for (const path of ['//', '/v1/runs/', '/metrics/', '/livez//', '/livez/x/', '//livez/']) {
      const { status, body } = await secured.call('GET', path)
      expect([path, status, body.code]).toEqual([path, 401, 'unauthorized'])
    }
  })

  it('lists runs and results as without it', async () => {
    const run = local.newRun()
    await run.put('{"output":1}')
    for (const path of ['/v1/runs', run.path, `${run.path}/results`, `${run.path}/results/r1`]) {
      const [plain, slashed] = [await local.call('GET', path), await local.call('GET', `${path}/`)]
      expect([path, slashed.status, slashed.text]).toEqual([path, 200, plain.text])
    }
    expect(JSON.parse((await local.call('GET', '/v1/runs/')).text)).toMatchObject({
      items: [{ run_id: run.id }],
    })
  })
})

describe('the root', () => {
  // Fault: it was not found.
  it('leads to the documentation, with a token or without', async () => {
    for (const api of [secured, local]) {
      for (const path of ['/', '/?x=1']) {
        const { status, headers } = await api.call('GET', path)
        expect([status, headers['location']]).toEqual([302, '/docs'])
      }
      expect((await api.call('GET', '/docs')).status).toBe(200)
    }
  })

  it('takes nothing, and web pages are refused as everywhere', async () => {
    expect((await local.call('GET', '//')).status).toBe(404)
    const posted = await local.call('POST', '/')
    expect([posted.status, posted.headers['allow']]).toEqual([405, 'GET, HEAD'])
    const { status } = await local.call('GET', '/', undefined, { host: 'example.com' })
    expect(status).toBe(403)
  })
})

describe('the scheme of the token', () => {
  // Fault: only "Bearer" was taken; the name of a scheme is the same in any case (RFC 9110, 11.1).
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('is known in any case: %s', async (scheme) => {
    const headers = { authorization: `${scheme} ${TOKEN}` }
    expect((await secured.call('GET', '/v1/runs', undefined, headers)).status).toBe(200)
    const other = { authorization: `${scheme} ${TOKEN.toUpperCase()}` }
    expect((await secured.call('GET', '/v1/runs', undefined, other)).status).toBe(401)
  })

  it.each([`Bearer${TOKEN}`, `Bearer_${TOKEN}`, `Bear ${TOKEN}`, `Basic ${TOKEN}`])(
    'is no other: %s',
    async (authorization) => {
      const { status } = await secured.call('GET', '/v1/runs', undefined, { authorization })
      expect(status).toBe(401)
    },
  )
})

describe('a refusal for want of the token', () => {
  // Fault: all of them had the library's words, which told neither what was wrong nor what to send.
  it.each<readonly [string, Headers, RegExp]>([
    ['none', {}, /^Send the header "authorization: Bearer <token>"/],
    [
      'a wrong token',
      { authorization: 'Bearer wrong' },
      /^The bearer token is not the right one\./,
    ],
    ['a scheme in small letters', { authorization: 'bearer no' }, /^The bearer token is not/],
    ['no Bearer', { authorization: `Basic ${TOKEN}` }, /^The authorization header is no bearer/],
    ['the token alone', { authorization: TOKEN }, /^The authorization header is no bearer token\./],
  ])('says what was wrong and what to send: %s', async (_, headers, detail) => {
    const { status, body, text } = await secured.call('GET', '/v1/runs', undefined, headers)
    expect([status, body.code]).toEqual([401, 'unauthorized'])
    expect(body.detail).toMatch(detail)
    expect(body.detail).toContain('COATCHECK_TOKEN')
    expect(text).not.toContain(TOKEN)
  })
})
