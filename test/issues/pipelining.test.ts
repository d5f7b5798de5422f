// What follows a request on its connection never takes its answer away. Fault: 50 pipelined puts and one line that is no HTTP got a
// single 400, and no answer for puts that were kept; a value that was being sent was cut.
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { numberedLines, startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const api = await startApi()
const url = await api.listen()
const { host, hostname, port } = new URL(url)
afterAll(() => api.close())

const put = (path: string, body: string, head = ''): string =>
  `POST ${path}/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\n${head}content-length: ${body.length}\r\n\r\n${body}`
const get = (path: string, head = ''): string =>
  `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${head}\r\n`

const statusesIn = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
const handlesIn = (text: string): readonly string[] =>
  [...text.matchAll(/"handle":"(r\d+)"/g)].map(([, handle]) => handle as string)

async function exchange(bytes: string): Promise<string> {
  const { head, body } = await rawRequest(url, bytes)
  return `${head}\r\n\r\n${body}`
}

describe('a request that is malformed', () => {
  it.each([
    ['a line that is no HTTP', 'no HTTP at all\r\n\r\n'],
    ['a header without a colon', 'GET /livez HTTP/1.1\r\nnone\r\n\r\n'],
    ['two lengths', put('/v1/runs/x', 'x', 'content-length: 5\r\n')],
  ])('is answered after the 50 puts before it: %s', async (_, malformed) => {
    const run = api.newRun()
    const puts = Array.from({ length: 50 }, (_, n) => put(run.path, `value ${n}`))
    const text = await exchange(puts.join('') + malformed)
    expect(statusesIn(text)).toEqual([...Array(50).fill(201), 400])
    expect(handlesIn(text)).toEqual(puts.map((_, n) => `r${n + 1}`))
    expect((await run.read()).body).toMatchObject({ results: 50 })
  })

  it('is what follows a body that is longer than its length', async () => {
    const run = api.newRun()
    const text = await exchange(`${put(run.path, 'abc')}def`.concat('\r\n\r\n'))
    expect(statusesIn(text)).toEqual([201, 400])
    expect((await run.value('r1')).text).toBe('abc')
  })

  it('does not cut a value that is being sent', async () => {
    const run = api.newRun()
    const value = numberedLines(600_000, 'a line of a value that is long')
    await run.putRaw(value, 'text/plain')
    const text = await exchange(`${get(`${run.path}/results/r1/value`)}no HTTP\r\n\r\n`)
    expect(statusesIn(text)).toEqual([200, 400])
    expect(text).toContain(value)
  })
})

describe('the end of a connection', () => {
  it('that follows requests does not take their answers', async () => {
    const run = api.newRun()
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let text = ''
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
    })
    socket.end(put(run.path, 'one') + put(run.path, 'two'))
    await once(socket, 'close')
    expect(statusesIn(text)).toEqual([201, 201])
  })

  it('within a request is told', async () => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
    let text = ''
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece
    })
    socket.end(get('/livez') + put('/v1/runs/short', 'four').slice(0, -1))
    await once(socket, 'close')
    expect(statusesIn(text)).toEqual([200, 400])
    expect((await api.call('GET', '/v1/runs/short')).status).toBe(404)
  })
})

describe('requests of one connection', () => {
  it('of every frame are read one after the other', async () => {
    const run = api.newRun()
    const chunked = `POST ${run.path}/results HTTP/1.1\r\nhost: ${host}\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\r\n\r\n\r\n2;ext\r\nab\r\n0\r\ntrailer: 1\r\n\r\n`
    const requests = [
      '\r\n\r\n',
      chunked,
      get('/livez'),
      put(run.path, '\r\n\r\nGET / HTTP/1.1\r\n\r\n'),
      get(`${run.path}/results/r1/value`).replace('GET', 'HEAD'),
      put(run.path, 'refused', 'content-encoding: br\r\n'),
      get('/livez', 'connection: close\r\n'),
    ].join('')
    for (const pieceBytes of [1, 7, requests.length]) {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true })
      let text = ''
      socket.setEncoding('latin1').on('data', (piece: string) => {
        text += piece
      })
      const closed = once(socket, 'close')
      for (let at = 0; at < requests.length; at += pieceBytes) {
        socket.write(requests.slice(at, at + pieceBytes))
        await new Promise((resolve) => setImmediate(resolve))
      }
      await closed
      expect(statusesIn(text)).toEqual([201, 200, 201, 200, 415, 200])
    }
    expect((await run.value('r1')).text).toBe('\r\n\r\nab')
    expect((await run.value('r2')).text).toBe('\r\n\r\nGET / HTTP/1.1\r\n\r\n')
  })
})
