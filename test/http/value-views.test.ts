import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const PNG = Buffer.from(Array.from({ length: 100 }, (_, i) => (i * 37) % 256))

describe('the text view', () => {
  it('is of each kind what windows and recall count in', async () => {
    const run = api.newRun()
    await run.putRaw('a\r\nb', 'text/html')
    await run.put(String.raw`{"output": "a\nb\ud800"}`)
    await run.put('{"output": {"b":1.0,"a":[]}}')
    await run.put('{"failure": {"message": "it\\nfailed"}}')
    await run.put('{"suspension": {"reason": "why?", "input_schema": {}}}')
    const views = []
    for (const n of [1, 2, 3, 4, 5]) {
      const { text, headers } = await run.value(`r${n}`, '?as=text')
      expect(headers['content-type']).toBe('text/plain; charset=utf-8')
      expect(headers['content-disposition']).toContain('inline')
      views.push(text)
    }
    expect(views).toEqual([
      'a\r\nb',
      'a\nb\ufffd',
      '{\n  "b": 1.0,\n  "a": []\n}',
      'it\nfailed',
      'why?',
    ])
  })

  it('has an ETag of its own', async () => {
    const run = api.newRun()
    await run.putRaw('a', 'text/plain')
    const tags = [
      (await run.value('r1')).headers.etag,
      (await run.value('r1', '?as=text')).headers.etag,
    ]
    expect(new Set(tags).size).toBe(2)
  })

  it('is not there for a binary', async () => {
    const run = api.newRun()
    await run.putRaw(PNG, 'image/png')
    const { status, body } = await run.value('r1', '?as=text')
    expect([status, body.code]).toEqual([422, 'no_text_view'])
  })
})

describe('a slice of a JSON value', () => {
  it('is its bytes as application/json, with an ETag for its place', async () => {
    const run = api.newRun()
    await run.put('{"output": {"rows": [{"n": 1.0}, {"n": 1.0}], "a/b": {"~": "t\\u0041"}}}')
    const first = await run.value('r1', '?path=rows.0')
    const second = await run.value('r1', '?pointer=/rows/1')
    const escaped = await run.value('r1', '?pointer=/a~1b/~0')
    expect([first.text, second.text, escaped.text]).toEqual([
      '{"n": 1.0}',
      '{"n": 1.0}',
      '"t\\u0041"',
    ])
    expect(first.headers['content-type']).toMatch(/^application\/json/)
    const whole = await run.value('r1')
    const tags = [whole, first, second, escaped].map(({ headers }) => headers.etag)
    expect(new Set(tags).size).toBe(4)
    const again = await run.value('r1', '?path=rows.0', {
      'if-none-match': String(first.headers.etag),
    })
    expect(again.status).toBe(304)
    const part = await run.value('r1', '?path=rows.0', { range: 'bytes=1-3' })
    expect([part.status, part.text]).toEqual([206, '"n"'])
  })

  it('can be had as text: bare for a string, indented for the rest', async () => {
    const run = api.newRun()
    await run.put('{"output": {"s": "a\\nb", "o": {"k": [1]}, "n": 1.0}}')
    const views = []
    for (const path of ['s', 'o', 'n']) {
      views.push((await run.value('r1', `?as=text&path=${path}`)).text)
    }
    expect(views).toEqual(['a\nb', '{\n  "k": [\n    1\n  ]\n}', '1.0'])
  })

  it('that is not there is a problem which says what is', async () => {
    const run = api.newRun()
    await run.put('{"output": {"rows": [1, 2], "total": 2}}')
    const { status, body } = await run.value('r1', '?path=row.0')
    expect([status, body.code]).toEqual([404, 'path_not_found'])
    expect(body.detail).toContain('"row"')
    expect(body.available).toEqual(['rows', 'total'])
    expect((await run.value('r1', '?path=rows.2')).status).toBe(404)
    expect((await run.value('r1', '?pointer=/rows/01')).status).toBe(404)
    expect((await run.value('r1', '?path=rows.length')).status).toBe(404)
    for (const pointer of ['rows', '/a~2']) {
      const bad = await run.value('r1', `?pointer=${pointer}`)
      expect([bad.status, bad.body.code]).toEqual([400, 'invalid_request'])
    }
  })

  it('is of JSON only', async () => {
    const run = api.newRun()
    await run.putRaw('{"a": 1}', 'text/plain')
    await run.putRaw('{"a": 1}', 'application/octet-stream')
    for (const handle of ['r1', 'r2']) {
      const { status, body } = await run.value(handle, '?path=a')
      expect([status, body.code]).toEqual([404, 'path_not_found'])
    }
  })
})
