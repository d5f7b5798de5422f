import { afterAll, describe, expect, it } from 'vitest'
import { type Api, startApi } from '../support/api.ts'
import { type RawAnswer, rawRequest } from '../support/socket.ts'

const api = await startApi()
afterAll(() => api.close())

// Fault: a file that is not there was a 405 that listed GET, and a path with a NUL was "Forbidden".
it.each(['/docs/static/nope.js', '/docs/static/%00'])('%s is not found', async (url) => {
  const reply = await api.app.inject({ url })
  expect([reply.statusCode, reply.json().code]).toEqual([404, 'not_found'])
})

const TOKEN = 'a-token-of-some-length'
const secured = await startApi({ COATCHECK_TOKEN: TOKEN })
afterAll(() => secured.close())

// Fault: such a target was served by what its Host header said.
describe.each([
  ['without tokens', api, 403],
  ['with tokens', secured, 200],
] as const)('an absolute target, %s', (_, service, foreignStatus) => {
  const answer = async (target: string, host?: string): Promise<RawAnswer> => {
    const url = await listening(service)
    return rawRequest(
      url,
      `GET ${target} HTTP/1.1\r\nhost: ${host ?? new URL(url).host}\r\nauthorization: Bearer ${TOKEN}\r\nconnection: close\r\n\r\n`,
    )
  }

  it.each(['http://example.com', 'https://example.com:8443', 'http://127.0.0.1@example.com'])(
    'of another host than the header is a 400: %s',
    async (origin) => {
      const { status, body } = await answer(`${origin}/v1/runs`)
      expect(status).toBe(400)
      expect(body).toContain('Send the same in both')
    },
  )

  it('of the host of the header is served by that host', async () => {
    const { host } = new URL(await listening(service))
    expect((await answer('/v1/runs')).status).toBe(200)
    expect((await answer(`http://${host}/v1/runs`)).status).toBe(200)
    expect((await answer('http://LOCALHOST:80/v1/runs', 'localhost')).status).toBe(200)
    expect((await answer('http://example.com/v1/runs', 'example.com')).status).toBe(foreignStatus)
  })
})

const urls = new Map<Api, Promise<string>>()

function listening(service: Api): Promise<string> {
  const url = urls.get(service) ?? service.listen()
  urls.set(service, url)
  return url
}
