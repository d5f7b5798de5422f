// Bodies with a content-encoding, over a real socket: what is put is what was encoded, and no body can come to more than it may.
import { request as httpRequest } from 'node:http'
import {
  brotliCompressSync,
  constants,
  createGzip,
  createZstdCompress,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { numberedLines, startApi } from '../support/api.ts'
import { rawRequest } from '../support/socket.ts'

const JSON_BYTES = 4_000_000
const RAW_BYTES = 12_000_000
const RATIO = 200
const api = await startApi({
  COATCHECK_MAX_JSON_BODY_BYTES: String(JSON_BYTES),
  COATCHECK_MAX_RAW_BODY_BYTES: String(RAW_BYTES),
})
const url = await api.listen()
const { host } = new URL(url)
afterAll(() => api.close())

const ENCODERS = {
  gzip: (body: Buffer | string) => gzipSync(body),
  zstd: (body: Buffer | string) => zstdCompressSync(body),
} as const
const ENCODINGS = Object.keys(ENCODERS) as (keyof typeof ENCODERS)[]

interface Reply {
  readonly status: number
  readonly body: Record<string, unknown>
  readonly headers: Headers
}

async function send(path: string, body: Buffer, headers: Record<string, string>): Promise<Reply> {
  const reply = await fetch(url + path, { method: 'POST', body: new Uint8Array(body), headers })
  return {
    status: reply.status,
    headers: reply.headers,
    body: (await reply.json()) as Record<string, unknown>,
  }
}

/** Text that compresses, but not wildly. */
const log = (lines: number): Buffer =>
  Buffer.from(numberedLines(lines, 'a line with some words, of number'))

describe.each(ENCODINGS)('a body as %s', (encoding) => {
  const encode = ENCODERS[encoding]

  it.each([
    ['an envelope', 'application/json', '{"output":{"n":12345678901234567890,"b":[1.0,"é"]}}'],
    ['raw JSON', 'application/x+json', '{"n":12345678901234567890,"b":[1.0,"é"]}'],
    ['a text', 'text/plain', 'a\r\nb\0c\n'],
    ['a binary', 'application/octet-stream', '\0\u0001'],
  ])('is what was encoded: %s', async (_, type, text) => {
    const run = api.newRun()
    const headers = { 'content-type': type, 'content-encoding': encoding.toUpperCase() }
    const put = await send(`${run.path}/results`, encode(text), headers)
    expect(put.status).toBe(201)
    const value = type === 'application/json' ? text.slice('{"output":'.length, -1) : text
    expect((await run.value('r1')).text).toBe(value)
  })

  it('is the same when it is large and comes in small pieces, without a length', async () => {
    const run = api.newRun()
    const text = log(150_000)
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const headers = { 'content-type': 'text/plain', 'content-encoding': encoding }
      const call = httpRequest(`${url}${run.path}/results`, { method: 'POST', headers }, (reply) =>
        resolve(reply.resume().statusCode),
      )
      call.on('error', reject)
      const body = Buffer.concat([encode(text.subarray(0, 99)), encode(text.subarray(99))])
      for (let at = 0; at < body.length; at += 1_000) call.write(body.subarray(at, at + 1_000))
      call.end()
    })
    expect(status).toBe(201)
    expect((await run.value('r1')).bytes.equals(text)).toBe(true)
  })

  it.each([
    ['application/json', 'json_body_bytes', JSON_BYTES],
    ['application/x+json', 'json_body_bytes', JSON_BYTES],
    ['text/plain', 'raw_body_bytes', RAW_BYTES],
  ])('has the limit of its decoded bytes: %s', async (type, limit, value) => {
    const run = api.newRun()
    const body = encode(`"${log(value / 30).toString()}"`)
    expect(body.length).toBeLessThan(value)
    const { status, body: problem } = await send(`${run.path}/results`, body, {
      'content-type': type,
      'content-encoding': encoding,
    })
    expect([status, problem['code'], problem['limit'], problem['value']]).toEqual([
      413,
      'body_too_large',
      limit,
      value,
    ])
    expect((await run.read()).status).toBe(404)
  })

  it('may be as repetitive as it likes while it is small', async () => {
    const run = api.newRun()
    const headers = { 'content-type': 'text/plain', 'content-encoding': encoding }
    const put = await send(`${run.path}/results`, encode(Buffer.alloc(1_048_576, 'x')), headers)
    expect([put.status, put.body['total_bytes']]).toEqual([201, 1_048_576])
  })

  it.each(['application/json', 'text/plain', 'application/octet-stream'])(
    'that is a bomb is cut early, by its ratio, and the connection goes on: %s',
    async (type) => {
      const run = api.newRun()
      const bomb = encode(Buffer.alloc(300_000_000))
      const before = process.memoryUsage().rss
      const headers = { 'content-type': type, 'content-encoding': encoding }
      for (let n = 0; n < 3; n++) {
        const { status, body } = await send(`${run.path}/results`, bomb, headers)
        expect([status, body['code'], body['limit'], body['value']]).toEqual([
          413,
          'body_too_large',
          'decompression_ratio',
          RATIO,
        ])
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000)
      expect((await run.read()).status).toBe(404)
    },
  )

  it.each(['application/json', 'text/plain'])(
    'that is broken is refused, and nothing is kept: %s',
    async (type) => {
      const run = api.newRun()
      const whole = encode(`{"output":"${log(2_000).toString('hex')}"}`)
      const flipped = Buffer.from(whole)
      flipped[whole.length - 10] = (flipped[whole.length - 10] as number) ^ 0x55
      for (const [body, why] of [
        [whole.subarray(0, -5), /breaks off/],
        [whole.subarray(0, 1), /breaks off|corrupt/],
        [Buffer.concat([whole, Buffer.from('tail')]), /corrupt/],
        [flipped, /corrupt|breaks off/],
        [Buffer.from('not encoded at all'), /corrupt/],
      ] as const) {
        const { status, body: problem } = await send(`${run.path}/results`, body, {
          'content-type': type,
          'content-encoding': encoding,
        })
        expect([status, problem['code']]).toEqual([400, 'invalid_request'])
        expect(problem['detail']).toMatch(why)
      }
      expect((await run.read()).status).toBe(404)
    },
  )

  it('that breaks off on the way is not kept', async () => {
    const run = api.newRun()
    const body = encode(log(150_000))
    await new Promise<void>((resolve) => {
      const call = httpRequest(`${url}${run.path}/results`, {
        method: 'POST',
        headers: {
          'content-type': 'text/plain',
          'content-encoding': encoding,
          'content-length': body.length,
        },
      })
      call.on('error', () => resolve())
      call.write(body.subarray(0, body.length / 2), () => setTimeout(() => call.destroy(), 50))
    })
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    expect((await run.read()).status).toBe(404)
  })

  it('is for every call with a body', async () => {
    const run = api.newRun()
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
    await run.put('{"output":"kept"}')
    const recalled = await send(`${run.path}/recall`, encode('{"id":"r1"}'), headers)
    expect(recalled.body).toMatchObject({ content: 'kept' })
    const text = await send('/v1/content-string', encode('{"value":[1.0]}'), headers)
    expect(text.body).toMatchObject({ content: '[1.0]' })
  })

  it('that is refused for another reason is read to its end, and the next request is served', async () => {
    const body = encode(log(100_000))
    const head = (type: string, rest: string) =>
      `POST /v1/content-string HTTP/1.1\r\nhost: ${host}\r\ncontent-type: ${type}\r\ncontent-encoding: ${encoding}\r\n${rest}\r\n`
    const { head: first, body: rest } = await rawRequest(
      url,
      Buffer.concat([
        Buffer.from(head('text/plain', `content-length: ${body.length}\r\n`)),
        body,
        Buffer.from(`GET /livez HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`),
      ]),
    )
    expect(first).toMatch(/^HTTP\/1\.1 415 /)
    expect(rest).toMatch(/HTTP\/1\.1 200 OK/)
  })
})

describe('gzip', () => {
  it('may come in several members, which are one body', async () => {
    const run = api.newRun()
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'x-gzip' }
    const body = Buffer.concat([gzipSync('one '), gzipSync('two')])
    expect((await send(`${run.path}/results`, body, headers)).status).toBe(201)
    expect((await run.value('r1')).text).toBe('one two')
  })
})

describe('zstd', () => {
  it('is refused where its window is larger than a decoder should hold', async () => {
    const run = api.newRun()
    const params = { [constants.ZSTD_c_windowLog]: 25 }
    const body = zstdCompressSync(log(1_000_000), { params })
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'zstd' }
    const { status, body: problem } = await send(`${run.path}/results`, body, headers)
    expect([status, problem['code']]).toEqual([400, 'invalid_request'])
    expect(problem['detail']).toMatch(/window is larger than 8 MiB/)
  })

  it('may come in several frames, which are one body', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'zstd' }
    const skipped = Buffer.from('502a4d1804000000ffffffff', 'hex')
    const one = [skipped, zstdCompressSync('one '), zstdCompressSync('')]
    const body = Buffer.concat([...one, zstdCompressSync('two'), skipped])
    const run = api.newRun()
    expect((await send(`${run.path}/results`, body, headers)).status).toBe(201)
    expect((await run.value('r1')).text).toBe('one two')
  })

  it('of a great many frames is refused, and of many is read', async () => {
    const headers = { 'content-type': 'text/plain', 'content-encoding': 'zstd' }
    const frames = (count: number) => Buffer.concat(Array(count).fill(zstdCompressSync('x')))
    const run = api.newRun()
    const { status, body } = await send(`${run.path}/results`, frames(5_000), headers)
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['detail']).toMatch(/frames/)
    const read = await send(`${run.path}/results`, frames(1_000), headers)
    expect(read.body['total_bytes']).toBe(1_000)
  })
})

describe('another encoding', () => {
  it.each([
    ['br', brotliCompressSync('x')],
    ['gzip, zstd', gzipSync('x')],
    ['gzip;q=1', gzipSync('x')],
  ])('is a 415 that says which are taken: %s', async (encoding, body) => {
    const run = api.newRun()
    const reply = await send(`${run.path}/results`, body, {
      'content-type': 'text/plain',
      'content-encoding': encoding,
    })
    expect([reply.status, reply.body['code']]).toEqual([415, 'unsupported_media_type'])
    expect(reply.headers.get('accept-encoding')).toBe('gzip, zstd')
  })

  it('is none where there is no body, and identity is none', async () => {
    const headers = { 'content-encoding': 'br', host: 'localhost' }
    expect((await api.call('GET', '/v1/runs', undefined, headers)).status).toBe(200)
    const identity = { 'content-encoding': 'Identity' }
    expect((await api.newRun().putRaw('x', 'text/plain', '', identity)).status).toBe(201)
  })

  it('of an empty body is told as an empty body', async () => {
    const { status, body } = await send(`${api.newRun().path}/results`, Buffer.alloc(0), {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    })
    expect([status, body['code']]).toEqual([400, 'invalid_request'])
    expect(body['detail']).toMatch(/empty/)
  })
})

it('the encoders of Node stream what is decoded here', async () => {
  for (const [encoding, encoder] of [
    ['gzip', createGzip()],
    ['zstd', createZstdCompress()],
  ] as const) {
    const run = api.newRun()
    const pieces: Buffer[] = []
    for (let n = 0; n < 100; n++) encoder.write(`line ${n}\n`)
    encoder.end()
    for await (const piece of encoder) pieces.push(piece as Buffer)
    const headers = { 'content-type': 'text/plain', 'content-encoding': encoding }
    const put = await send(`${run.path}/results`, Buffer.concat(pieces), headers)
    expect(put.body['total_lines']).toBe(100)
  }
})
