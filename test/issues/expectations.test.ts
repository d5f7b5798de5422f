// Answers that Node gives by itself unless it is told otherwise.
import { afterAll, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const api = await startApi()
const url = await api.listen()
const { host } = new URL(url)
afterAll(() => api.close())

it('an expectation that is not known is passed over', async () => {
  const { status, body } = await rawRequest(
    url,
    `POST /v1/content-string HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\nexpect: the-unexpected\r\ncontent-length: 11\r\nconnection: close\r\n\r\n{"value":1}`,
  )
  expect([status, JSON.parse(body).content]).toEqual([200, '1'])
})

it.each([
  ['a method that there is none of', `NONE / HTTP/1.1\r\nhost: ${host}\r\n\r\n`],
  ['headers past the limit', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: ${host}\r\n\r\n`],
])('what is no HTTP gets a request id as well: %s', async (_what, bytes) => {
  const { status, head, body } = await rawRequest(url, bytes)
  const id = /^x-request-id: (.+)$/m.exec(head)?.[1]?.trim()
  expect([status, id]).toEqual([400, JSON.parse(body).instance])
})
