import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { numberedLines, startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

const PNG = Buffer.from(Array.from({ length: 100 }, (_, i) => (i * 37) % 256))

describe('the raw read', () => {
  it('has the digest of the value as its ETag, and the headers that keep a browser still', async () => {
    const run = api.newRun()
    await run.putRaw('text\n', 'text/plain')
    const { status, headers } = await run.value('r1')
    expect(status).toBe(200)
    expect(headers).toMatchObject({
      etag: `"${sha256('text\n')}"`,
      'content-length': '5',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'inline; filename="r1"',
    })
    expect(headers['content-security-policy']).toContain('sandbox')
    expect(headers['cache-control']).toContain('private')
  })

  it.each(['text/html', 'TEXT/HTML; charset=utf-8', 'image/svg+xml', 'application/xhtml+xml'])(
    'hands out %s as an attachment',
    async (type) => {
      const run = api.newRun()
      await run.putRaw('<script>alert(1)</script>', type)
      const { headers } = await run.value('r1')
      expect(headers['content-disposition']).toBe('attachment; filename="r1"')
      expect(headers['content-type']).toBe(type)
    },
  )

  it('answers HEAD with the headers alone', async () => {
    const run = api.newRun()
    await run.putRaw(PNG, 'image/png')
    const { status, headers, bytes } = await api.call('HEAD', `${run.path}/results/r1/value`)
    expect([status, headers['content-length'], headers['content-type']]).toEqual([
      200,
      '100',
      'image/png',
    ])
    expect(headers.etag).toBe(`"${sha256(PNG)}"`)
    expect(bytes).toHaveLength(0)
  })

  it('of an empty value is empty', async () => {
    const run = api.newRun()
    await run.putRaw('', 'text/plain')
    for (const query of ['', '?as=text']) {
      const { status, headers, bytes } = await run.value('r1', query)
      expect([status, headers['content-length'], bytes.length]).toEqual([200, '0', 0])
    }
  })

  it('of what is not there is a 404', async () => {
    const run = api.newRun()
    expect((await run.value('r1')).body.code).toBe('not_found')
    await run.put('{"output": 1}')
    for (const handle of ['r2', 'r0', 'R1', 'r1x', '$r1', '1', 'r99999999999999999999']) {
      expect([handle, (await run.value(handle)).status]).toEqual([handle, 404])
    }
  })

  it('refuses a query it does not know', async () => {
    const run = api.newRun()
    await run.put('{"output": 1}')
    for (const query of ['?as=html', '?at=1', '?path=a&pointer=/a', '?path=a&path=b']) {
      expect((await run.value('r1', query)).body.code).toBe('invalid_request')
    }
  })
})

describe('If-None-Match', () => {
  it.each([
    ['the tag', (tag: string) => tag, 304],
    ['a weak tag', (tag: string) => `W/${tag}`, 304],
    ['one of several', (tag: string) => `"a", ${tag}`, 304],
    ['any', () => '*', 304],
    ['another', () => '"a"', 200],
  ])('with %s', async (_, header, status) => {
    const run = api.newRun()
    await run.putRaw('text', 'text/plain')
    const { headers } = await run.value('r1')
    const again = await run.value('r1', '', { 'if-none-match': header(String(headers.etag)) })
    expect(again.status).toBe(status)
    expect(again.headers.etag).toBe(headers.etag)
    expect(again.text).toBe(status === 304 ? '' : 'text')
  })
})

describe('Range', () => {
  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=10-19', 10, 20],
    ['bytes=0-0', 0, 1],
    ['bytes=90-', 90, 100],
    ['bytes=-5', 95, 100],
    ['bytes=50-500', 50, 100],
    ['bytes=-500', 0, 100],
    ['bytes=99-99', 99, 100],
  ])('%s is that part', async (range, start, end) => {
    const run = api.newRun()
    await run.putRaw(PNG, 'image/png')
    const { status, headers, bytes } = await run.value('r1', '', { range })
    expect(status).toBe(206)
    expect(headers['content-range']).toBe(`bytes ${start}-${end - 1}/100`)
    expect(headers['content-length']).toBe(String(end - start))
    expect(bytes).toEqual(PNG.subarray(start, end))
  })

  it.each(['bytes=100-', 'bytes=500-600', 'bytes=-0'])(
    '%s is outside: 416, which says how much there is',
    async (range) => {
      const run = api.newRun()
      await run.putRaw(PNG, 'image/png')
      const { status, headers, body } = await run.value('r1', '', { range })
      expect([status, body.code]).toEqual([416, 'range_not_satisfiable'])
      expect(body.detail).toContain('100')
      expect(headers['content-range']).toBe('bytes */100')
      expect(headers['content-type']).toMatch(/^application\/problem\+json/)
    },
  )

  it.each(['bytes=0-1,5-6', 'lines=1-2', 'bytes=x', 'bytes', 'bytes=5-2'])(
    '%s is answered with the whole, or refused as no range of it',
    async (range) => {
      const run = api.newRun()
      await run.putRaw(PNG, 'image/png')
      const { status, bytes } = await run.value('r1', '', { range })
      expect([200, 416]).toContain(status)
      if (status === 200) expect(bytes).toEqual(PNG)
    },
  )

  it('counts only while If-Range holds', async () => {
    const run = api.newRun()
    await run.putRaw(PNG, 'image/png')
    const range = 'bytes=0-1'
    const tag = `"${sha256(PNG)}"`
    const statuses = []
    for (const header of [tag, '"other"', `W/${tag}`, 'Tue, 15 Nov 1994 12:45:26 GMT']) {
      statuses.push((await run.value('r1', '', { range, 'if-range': header })).status)
    }
    expect(statuses).toEqual([206, 200, 200, 200])
  })
})

describe('a value of several chunks', () => {
  // Three bytes a character: chunk ends fall inside one.
  const text = `a${numberedLines(12_000, '漢字🦊é')}`
  const bytes = Buffer.from(text)

  it('is read whole, and any part of it, by byte', async () => {
    const run = api.newRun()
    await run.putRaw(bytes, 'text/plain')
    expect(bytes.length).toBeGreaterThan(200_000)
    expect((await run.value('r1')).bytes.equals(bytes)).toBe(true)
    for (const [start, end] of [
      [65_530, 65_545],
      [0, 131_073],
      [131_071, 131_072],
      [100, 200_000],
      [bytes.length - 1, bytes.length],
    ] as const) {
      const part = await run.value('r1', '', { range: `bytes=${start}-${end - 1}` })
      expect(part.bytes.equals(bytes.subarray(start, end))).toBe(true)
    }
  })

  it('has the same text view in one piece, by Range too, from a text, a string and a JSON value', async () => {
    const run = api.newRun()
    const lines = text.split('\n').slice(0, 8000)
    const json = JSON.stringify(lines)
    await run.putRaw(bytes, 'text/plain')
    await run.put(`{"output": ${JSON.stringify(text)}}`)
    await run.put(`{"output": ${json}}`)
    const views = { r1: bytes, r2: bytes, r3: Buffer.from(JSON.stringify(lines, null, 2)) }
    for (const [handle, view] of Object.entries(views)) {
      const whole = await run.value(handle, '?as=text')
      expect(whole.bytes.equals(view)).toBe(true)
      expect(whole.headers['content-length']).toBe(String(view.length))
      expect(whole.headers['content-type']).toBe('text/plain; charset=utf-8')
      const part = await run.value(handle, '?as=text', { range: 'bytes=131000-131999' })
      expect(part.status).toBe(206)
      expect(part.bytes.equals(view.subarray(131_000, 132_000))).toBe(true)
    }
  })
})
