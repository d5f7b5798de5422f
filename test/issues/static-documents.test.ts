// Fault: the OpenAPI document was written anew for each request of any stranger: eight of them raised the median of `/livez` from
// 1.6 to 576 ms.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const ASKED = 200

describe.each(['/openapi.json', '/openapi.yaml', '/docs/json', '/docs/yaml'])('%s', (path) => {
  it('is made once, and costs about as much as any small answer then', async () => {
    const first = await api.call('GET', path)
    expect(first.status).toBe(200)
    const cpu = process.cpuUsage()
    for (let n = 0; n < ASKED; n++) {
      const { bytes } = await api.call('GET', path)
      expect(bytes.length).toBe(first.bytes.length)
    }
    const { user } = process.cpuUsage(cpu)
    expect(user / 1_000 / ASKED).toBeLessThan(15)
  })

  it('has an ETag, and is a 304 for who has it', async () => {
    const { headers } = await api.call('GET', path)
    const etag = String(headers['etag'])
    expect(etag).toMatch(/^"[0-9a-f]{32}"$/)
    for (const known of [etag, `"other", W/${etag}`]) {
      const answer = await api.call('GET', path, undefined, { 'if-none-match': known })
      expect([answer.status, answer.bytes.length]).toEqual([304, 0])
    }
    expect((await api.call('GET', path, undefined, { 'if-none-match': '"x"' })).status).toBe(200)
  })
})

it('many who ask whether the service is ready ask the ledger once', async () => {
  const answers = Array.from({ length: 50 }, () => api.call('GET', '/readyz'))
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200)
  expect((await api.call('GET', '/readyz')).status).toBe(200)
})
