import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('an integer in a query', () => {
  // Fault: whatever `Number` reads was taken, although nothing is coerced.
  it.each(['0x5', '1e2', '1.0', '%2B5', '05', '%205', '-0', ''])(
    'is written in plain decimal digits, not as %j',
    async (written) => {
      const { status, body } = await api.call('GET', `/v1/runs?limit=${written}`)
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.detail).toContain('"limit" in the query must be an integer')
    },
  )

  it('is taken as such', async () => {
    expect((await api.call('GET', '/v1/runs?limit=5')).status).toBe(200)
    expect((await api.call('GET', '/v1/runs?limit=-1')).body.detail).not.toContain('an integer')
  })
})
