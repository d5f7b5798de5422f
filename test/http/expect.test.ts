// Clients that ask before they send a body, and answers without one, over real sockets.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const TOKEN = 'a-token-of-some-length'
const api = await startApi({ COATCHECK_TOKEN: TOKEN, COATCHECK_MAX_JSON_BODY_BYTES: '2048' })
const url = await api.listen()
const { host, hostname, port } = new URL(url)
afterAll(() => api.close())

const head = (line: string, headers: Readonly<Record<string, string>>): string => {
  const all = {
    host,
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`
}
const PUT = 'POST /v1/runs/asks/results'
const ASKS = { expect: '100-continue', 'content-length': '12' }

describe('a client that asks whether to send its body', () => {
  it.each([
    ['413', PUT, { 'content-length': '2049' }],
    ['401', PUT, { authorization: 'Bearer other' }],
    ['404', 'POST /v1/nowhere', {}],
    ['415', 'POST /v1/runs/asks/recall', { 'content-type': 'text/plain' }],
    ['415', PUT, { 'content-encoding': 'br' }],
  ])('is told %s at once, and nothing else: %s %o', async (status, line, headers) => {
    const answer = await rawRequest(url, head(line, { ...ASKS, ...headers }))
    expect(answer.head).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer.head).toMatch(/\r\nconnection: close/i)
    expect(JSON.parse(answer.body)).toMatchObject({ status: Number(status) })
  })

  it.each([
    ['application/json', {}],
    ['text/plain', {}],
    ['text/plain', { 'content-length': String(2 * 1_048_576) }],
  ])(
    'is told to send it where it is wanted, and then what became of it: %s %o',
    async (type, more) => {
      const headers = { ...ASKS, 'content-type': type, ...more }
      const socket = connect({ host: hostname, port: Number(port) })
      socket.write(head(PUT, headers))
      expect(String((await once(socket, 'data'))[0])).toBe('HTTP/1.1 100 Continue\r\n\r\n')
      socket.write('{"output":1}'.padEnd(Number(headers['content-length'])))
      expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 201 /)
      socket.destroy()
    },
  )
})

describe('an answer that nothing changed', () => {
  it('tells no length, to a HEAD as to a GET', async () => {
    const run = api.run('tagged')
    const authorization = `Bearer ${TOKEN}`
    await run.put('{"output":"abc"}', { authorization })
    const { headers } = await run.value('r1', '', { authorization })
    for (const method of ['GET', 'HEAD']) {
      const asked = { 'if-none-match': String(headers.etag), connection: 'close' }
      const answer = await rawRequest(
        url,
        head(`${method} /v1/runs/tagged/results/r1/value`, asked),
      )
      expect([answer.status, answer.body]).toEqual([304, ''])
      expect(answer.head).not.toMatch(/content-length|transfer-encoding/i)
    }
  })
})
