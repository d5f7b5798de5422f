import { connect } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const bytes = (...values: readonly number[]): Buffer => Buffer.from(values)

describe('a raw body', () => {
  it.each([
    ['text/plain', 'text'],
    ['text/html', 'text'],
    ['text/csv; header=present', 'text'],
    ['application/x-ndjson', 'text'],
    ['application/xml', 'text'],
    ['application/javascript; charset=UTF-8', 'text'],
    ['text/plain; charset="utf-8"', 'text'],
    ['text/plain; charset=US-ASCII', 'text'],
    ['Text/Plain', 'text'],
    ['image/svg+xml', 'text'],
    ['application/vnd.x+json', 'json'],
    ['application/ld+json; charset=utf-8; profile="a"', 'json'],
    ['APPLICATION/Problem+JSON', 'json'],
    ['image/png', 'binary'],
    ['audio/mpeg', 'binary'],
    ['video/mp4', 'binary'],
    ['application/octet-stream', 'binary'],
    ['application/pdf', 'binary'],
    ['application/zip', 'binary'],
  ])('%s is a %s, and comes back with that type', async (type, kind) => {
    const run = api.newRun()
    const body = '{"n": 1.0}\n'
    const put = await run.putRaw(body, type)
    expect([put.status, put.body.kind]).toEqual([201, kind])
    const value = await run.value('r1')
    expect(value.headers['content-type']).toBe(type)
    expect(value.text).toBe(body)
    expect((await run.result('r1')).body.media_type).toBe(type)
  })

  it.each([
    ['text/plain', bytes(0x61, 0xff, 0x62)],
    ['text/html', bytes(0xc4, 0xe3, 0xba, 0xc3)],
    ['application/x-ndjson', bytes(0xed, 0xa0, 0x80)],
  ])('%s that is not UTF-8 is a binary', async (type, body) => {
    const run = api.newRun()
    const put = await run.putRaw(body, type)
    expect([put.status, put.body.kind]).toEqual([201, 'binary'])
    expect((await run.value('r1')).bytes).toEqual(body)
    expect((await run.put('{"output": 1}')).status).toBe(201)
  })

  it.each([
    'a\r\nb\r\n',
    'a\rb\n\rc',
    'no final newline',
    '\n',
    '\ufeffwith a mark\n',
    'nul \0 inside\0',
    '\u001b[31mred\u001b[0m\f\v',
    '{"looks": "like json"}',
    '"quoted"',
    '',
    'astral 🦊 and \u2028 separators',
  ])('keeps a text exactly: %j', async (text) => {
    const run = api.newRun()
    const put = await run.putRaw(text, 'text/plain')
    expect(put.status).toBe(201)
    expect(put.body).toMatchObject({ content: text, total_bytes: Buffer.byteLength(text) })
    expect((await run.value('r1')).text).toBe(text)
    expect((await run.value('r1', '?as=text')).text).toBe(text)
    expect((await run.recall('{"id": "r1"}')).body.content).toBe(text)
    const resolved = await run.resolve('{"arguments": "$r1"}')
    expect(resolved.body.arguments).toBe(text)
  })

  it('of JSON keeps the white space around it', async () => {
    const run = api.newRun()
    const body = '\r\n  {"a" : [1.0,\t2] }\n\n'
    const put = await run.putRaw(body, 'application/ld+json')
    expect(put.body).toMatchObject({ kind: 'json', total_bytes: body.length, total_lines: 6 })
    expect((await run.value('r1')).text).toBe(body)
    expect((await run.value('r1', '?path=a')).text).toBe('[1.0,\t2]')
    expect((await run.resolve('{"arguments":"$r1"}')).text).toContain(
      '"arguments":{"a" : [1.0,\t2] }',
    )
  })

  it('of JSON that is a string is a text, its token kept', async () => {
    const run = api.newRun()
    const put = await run.putRaw(String.raw` "\u0041\ud83d" `, 'application/vnd.x+json')
    expect(put.body).toMatchObject({ kind: 'text', content: 'A\ufffd', total_chars: 2 })
    expect((await run.value('r1')).text).toBe(String.raw` "\u0041\ud83d" `)
    expect((await run.value('r1', '?as=text')).text).toBe('A\ufffd')
    expect((await run.resolve('{"arguments":"$r1"}')).text).toContain(
      String.raw`"arguments":"\u0041\ud83d"`,
    )
  })

  it.each([
    ['', 'invalid_json'],
    ['{"a":}', 'invalid_json'],
    ['{"a":1} {"a":2}', 'invalid_json'],
  ])('of JSON must be JSON: %j', async (body, code) => {
    const run = api.newRun()
    const put = await run.putRaw(body, 'application/vnd.x+json')
    expect([put.status, put.body.code]).toEqual([400, code])
    expect((await run.read()).status).toBe(404)
  })

  it.each([
    ['text/plain; charset=latin1', 'latin1'],
    ['text/plain;charset="utf-16le"', 'utf-16le'],
    ['application/ld+json; charset=utf-16', 'utf-16'],
    ['application/json; charset=iso-8859-1', 'iso-8859-1'],
    ['application/x-www-form-urlencoded', 'form'],
    ['multipart/form-data; boundary=x', 'form'],
    ['nonsense', 'nonsense'],
  ])('%s is refused, and the problem names the choices', async (type, word) => {
    const run = api.newRun()
    const put = await run.putRaw('{"output":1}', type)
    expect([put.status, put.body.code]).toEqual([415, 'unsupported_media_type'])
    expect(put.body.detail).toContain(word)
    expect(put.body.detail).toMatch(/application\/json.*text\/plain/s)
    expect((await run.read()).status).toBe(404)
  })

  it.each(['br', 'deflate', 'compress', 'gzip, identity', 'gzip, gzip', 'x'])(
    'that is encoded as %s is refused, never kept as it came',
    async (encoding) => {
      const run = api.newRun()
      for (const type of ['text/plain', 'application/json']) {
        const put = await run.putRaw('{"output":1}', type, '', { 'content-encoding': encoding })
        expect([put.status, put.body.code]).toEqual([415, 'unsupported_media_type'])
        expect(put.body.detail).toContain('content-encoding')
        expect(put.headers['accept-encoding']).toBe('gzip, zstd')
      }
      expect((await run.read()).status).toBe(404)
    },
  )

  it('without a content type is refused, and an empty one without anything too', async () => {
    const run = api.newRun()
    const untyped = await api.call('POST', `${run.path}/results`, 'text')
    expect([untyped.status, untyped.body.code]).toEqual([415, 'unsupported_media_type'])
    expect(untyped.body.detail).toContain('text/plain')
    const empty = await api.call('POST', `${run.path}/results`)
    expect([empty.status, empty.body.code]).toEqual([400, 'invalid_request'])
  })

  it('goes only where results are put', async () => {
    const run = api.newRun()
    for (const path of ['/recall', '/resolve']) {
      const answer = await api.call('POST', run.path + path, 'x', { 'content-type': 'text/plain' })
      expect([answer.status, answer.body.code]).toEqual([415, 'unsupported_media_type'])
    }
  })
})

describe('the id of a raw body', () => {
  it('comes from the query', async () => {
    const run = api.newRun()
    const query = `?tool_use_id=${encodeURIComponent('é/|🦊\0%')}&tool_name=${encodeURIComponent('tëst')}`
    const put = await run.putRaw('x', 'text/plain', query)
    expect(put.body.evidence_id).toBe('é/|🦊\0%')
    expect((await run.result('r1')).body.tool_name).toBe('tëst')
  })

  it('comes from a header, as UTF-8', async () => {
    const url = await api.listen()
    const run = api.newRun()
    const answer = await rawRequest(url, [
      `POST ${run.path}/results HTTP/1.1`,
      `host: ${new URL(url).host}`,
      'content-type: text/plain',
      'coatcheck-tool-use-id: call/é🦊',
      'content-length: 1',
      'connection: close',
      '',
      'x',
    ])
    expect(answer).toMatch(/^HTTP\/1.1 201 /)
    expect(answer).toContain('"evidence_id":"call/é🦊"')
    expect((await run.recall('{"id": "call/é🦊"}')).body.content).toBe('x')
  })

  it('in a header must be UTF-8', async () => {
    const put = await api
      .newRun()
      .putRaw('x', 'text/plain', '', { 'coatcheck-tool-use-id': 'caf\u00e9' })
    expect([put.status, put.body.code]).toEqual([400, 'invalid_request'])
    expect(put.body.detail).toContain('coatcheck-tool-use-id')
  })

  it("in the query comes before the one in the header, and an envelope's own before both", async () => {
    const run = api.newRun()
    const header = { 'coatcheck-tool-use-id': 'h' }
    const raw = await run.putRaw('x', 'text/plain', '?tool_use_id=q', header)
    const envelope = { 'content-type': 'application/json', ...header }
    const own = await api.call(
      'POST',
      `${run.path}/results?tool_use_id=q`,
      '{"tool_use_id":"o","output":1}',
      envelope,
    )
    expect([raw.body.evidence_id, own.body['evidence_id']]).toEqual(['q', 'o'])
  })

  it.each(['?tool_use_id=a&tool_use_id=b', '?tool_use=a', '?render=all', '?tool_name='])(
    'is in a query that has nothing else: %s',
    async (query) => {
      const put = await api.newRun().putRaw('x', 'text/plain', query)
      expect([put.status, put.body.code]).toEqual([400, 'invalid_request'])
    },
  )

  it('has at most 2,048 bytes', async () => {
    const run = api.newRun()
    expect((await run.putRaw('x', 'text/plain', `?tool_use_id=${'x'.repeat(2048)}`)).status).toBe(
      201,
    )
    const put = await run.putRaw('x', 'text/plain', `?tool_use_id=${'x'.repeat(2049)}`)
    expect([put.status, put.body.limit, put.body.value]).toEqual([400, 'evidence_id_bytes', 2048])
  })
})

/** Sends lines as UTF-8, and reads until the other side closes. */
function rawRequest(url: string, lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect({ host: hostname, port: Number(port) })
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(answer))
    socket.write(lines.join('\r\n'))
  })
}
