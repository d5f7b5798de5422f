import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

// Fault: a file that is not there was a 405 that listed GET, and a path with a NUL was "Forbidden".
it.each(['/docs/static/nope.js', '/docs/static/%00'])('%s is not found', async (url) => {
  const reply = await api.app.inject({ url })
  expect([reply.statusCode, reply.json().code]).toEqual([404, 'not_found'])
})

// Fault: such a target was served by what its Host header said.
it('the host of an absolute target counts, not that of the header', async () => {
  await api.app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = api.app.server.address() as AddressInfo
  const statusOf = (path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', path }, (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      })
      sent.on('error', reject).end()
    })
  expect(await statusOf('http://example.com/v1/runs')).toBe(403)
  expect(await statusOf('/v1/runs')).toBe(200)
})
