import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Client, CREATED, jsonOf } from '../../bench/client.ts'
import { Crowd } from '../../bench/crowd.ts'
import { post, postHead, repeat, TEXT } from '../../bench/requests.ts'

/** Answers the number of bytes it was sent, with the status that the path names. */
const server: Server = createServer(async (request, reply) => {
  let bytes = 0
  for await (const piece of request) bytes += (piece as Buffer).length
  const body = JSON.stringify({ bytes })
  reply.writeHead(Number(request.url?.slice(1)), { 'content-length': body.length }).end(body)
})
const clients: { close(): void }[] = []
let port = 0

async function connect(status?: number): Promise<Client> {
  const client = await Client.connect(port, status)
  clients.push(client)
  return client
}

beforeEach(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  for (const client of clients.splice(0)) client.close()
  server.close()
  await once(server, 'close')
})

describe('a client', () => {
  it('sends a body whole or in pieces over one connection, and times the answer', async () => {
    const client = await connect(CREATED)
    expect(jsonOf(await client.send(post('/201', TEXT, 'hello')))).toEqual({ bytes: 5 })
    const piece = Buffer.alloc(1_000_000, 'x')
    const pieces = [postHead('/201', TEXT, 20 * piece.length), ...Array(20).fill(piece)]
    const reply = await client.upload(pieces)
    expect(jsonOf(reply)).toEqual({ bytes: 20 * piece.length })
    expect(reply.totalMs).toBeGreaterThanOrEqual(reply.firstMs)
  })

  it('takes no answer but the one it is there for: a retry is no put', async () => {
    const client = await connect(CREATED)
    await expect(client.send(post('/200', TEXT, 'hello'))).rejects.toThrow('200: {"bytes":5}')
    await expect(client.send(post('/201', TEXT, 'hello'))).rejects.toThrow('closed')
  })
})

describe('a crowd', () => {
  it('sends as many requests as it is told, and fails when one of them does', async () => {
    let seen = 0
    server.on('request', () => seen++)
    const load = repeat(post('/200', TEXT, 'hello'))
    const crowd = await Crowd.open({ port, clients: 4, load })
    clients.push(crowd)
    await crowd.sendAll(10)
    expect(seen).toBe(10)
    const refused = repeat(post('/503', TEXT, 'hello'))
    const others = await Crowd.open({ port, clients: 4, load: refused })
    await expect(others.perSecond(60_000)).rejects.toThrow('503')
  })
})
