import { afterAll, describe, expect, it } from 'vitest'
import type { RecallAnswer } from '../../src/runs/recall.ts'
import { numberedLines, quoted, type RunCalls, recallAll, startApi } from '../support/api.ts'

const LIMIT = 2000

const api = await startApi({ COATCHECK_VERBATIM_LIMIT_CHARS: String(LIMIT) })
afterAll(() => api.close())

const joined = (pages: readonly RecallAnswer[]): string =>
  pages.map(({ content }) => content).join('')

async function textRun(text: string, id = 'a'): Promise<RunCalls> {
  const run = api.newRun()
  const put = await run.putRaw(text, 'text/plain', `?tool_use_id=${encodeURIComponent(id)}`)
  expect(put.status).toBe(201)
  return run
}

const TEN = numberedLines(10)

describe('a recall of a text that fits a page', () => {
  it('by its id alone is the whole', async () => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall('{"id":"a"}')
    expect(status).toBe(200)
    expect(body).toEqual({
      text: TEN,
      content: TEN,
      evidence_id: 'a',
      range: { start: 1, end: 10 },
      chars: { start: 0, end: TEN.length },
      total_lines: 10,
      total_chars: TEN.length,
      truncated: false,
      next: null,
      ignored: [],
    })
  })

  it.each([
    ['"range":{"start":2,"end":3}', 'line 2\nline 3\n', { start: 2, end: 3 }],
    ['"range":{"start":10,"end":10}', 'line 10\n', { start: 10, end: 10 }],
    ['"range":{"start":9}', 'line 9\nline 10\n', { start: 9, end: 10 }],
    ['"range":{"end":2}', 'line 1\nline 2\n', { start: 1, end: 2 }],
    ['"range":{"start":9,"end":99}', 'line 9\nline 10\n', { start: 9, end: 10 }],
    ['"chars":{"start":0,"end":4}', 'line', { start: 1, end: 1 }],
    ['"chars":{"start":5,"end":8}', '1\nl', { start: 1, end: 2 }],
    ['"chars":{"start":64}', 'line 10\n'.slice(1), { start: 10, end: 10 }],
    ['"chars":{"end":4}', 'line', { start: 1, end: 1 }],
    ['"chars":{"start":64,"end":1e99}', 'line 10\n'.slice(1), { start: 10, end: 10 }],
  ])('with %s is that part', async (span, content, lines) => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall(`{"id":"a",${span}}`)
    expect([status, body.content, body.text]).toEqual([200, content, content])
    expect(body.range).toEqual(lines)
    expect(body.truncated).toBe(false)
    expect(TEN.slice(body.chars.start, body.chars.end)).toBe(content)
  })

  it('of an empty one is empty, and a line of it is out of range', async () => {
    const run = await textRun('')
    const { status, body } = await run.recall('{"id":"a"}')
    expect([status, body.content, body.range, body.total_lines]).toEqual([200, '', null, 0])
    const line = await run.recall('{"id":"a","range":{"start":1,"end":1}}')
    expect([line.status, line.body.code]).toEqual([400, 'invalid_range'])
  })

  it('ends a line at a line feed and nowhere else', async () => {
    const text = 'one\ntwo\f\v\u0085\u2028 still two\rand still\r\nthree\r\r\n\nfive'
    const run = await textRun(text)
    const lines = []
    for (let n = 1; n <= 5; n++) {
      lines.push((await run.recall(`{"id":"a","range":{"start":${n},"end":${n}}}`)).body.content)
    }
    expect(lines).toEqual([
      'one\n',
      'two\f\v\u0085\u2028 still two\rand still\r\n',
      'three\r\r\n',
      '\n',
      'five',
    ])
    expect((await run.recall('{"id":"a"}')).body.total_lines).toBe(5)
  })

  it('counts astral characters as one', async () => {
    const run = await textRun('🦊🦊é漢\n')
    const { body } = await run.recall('{"id":"a","chars":{"start":1,"end":3}}')
    expect([body.content, body.total_chars]).toEqual(['🦊é', 5])
  })
})

describe('an id', () => {
  it('may be a handle, with its $ or without', async () => {
    const run = await textRun(TEN)
    for (const id of ['r1', '$r1']) {
      const { body } = await run.recall(`{"id":"${id}"}`)
      expect([body.content, body.evidence_id]).toEqual([TEN, 'a'])
    }
    for (const id of ['r2', 'r01', '$$r1', 'R1', '$r1.0', 'b', 'a ', 'A']) {
      expect([id, (await run.recall(`{"id":"${id}"}`)).status]).toEqual([id, 404])
    }
  })

  it('is an evidence id first: a handle of the same name is shadowed', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id":"r2","output":"called r2"}')
    await run.put('{"tool_use_id":"x","output":"is r2"}')
    expect((await run.recall('{"id":"r2"}')).body.content).toBe('called r2')
    expect((await run.recall('{"id":"$r2"}')).body.content).toBe('is r2')
    expect((await run.recall('{"id":"r1"}')).body.content).toBe('called r2')
  })

  it('that is unknown is a 404 that names it, clipped, and how many results there are', async () => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall('{"id":"call_\\"9\\""}')
    expect([status, body.code]).toEqual([404, 'not_found'])
    expect(body.detail).toContain('call_\\"9\\"')
    expect(body.detail).toContain('1 result')
    const long = await run.recall(`{"id":"${'\\ud83e\\udd8a'.repeat(5000)}"}`)
    expect(long.status).toBe(404)
    expect(long.body.detail?.length).toBeLessThan(500)
    expect((await run.recall('{"id":"\\ud800"}')).status).toBe(404)
  })

  it('of an unknown run is a 404 too', async () => {
    const { status, body } = await api.newRun().recall('{"id":"r1"}')
    expect([status, body.code]).toEqual([404, 'not_found'])
  })

  it('of a binary has no text', async () => {
    const run = api.newRun()
    await run.putRaw('x', 'image/png')
    const { status, body } = await run.recall('{"id":"r1"}')
    expect([status, body.code]).toEqual([422, 'no_text_view'])
    expect(body.detail).toContain('results/r1/value')
  })

  it('over 64 bytes is called by its handle in notes and in next, and that works', async () => {
    const id = 'é'.repeat(33)
    const text = numberedLines(1000)
    const run = await textRun(text, id)
    const { content } = (await run.content('r1')).body
    expect(content).toContain('recall {"id": "r1", "range"')
    const first = (await run.recall(`{"id":"${id}"}`)).body
    expect([first.next?.id, first.evidence_id]).toEqual(['r1', id])
    expect(joined(await recallAll(run, id))).toBe(text)
    const short = await textRun(text, 'é'.repeat(32))
    expect((await short.recall('{"id":"r1"}')).body.next?.id).toBe('é'.repeat(32))
  })

  it('is escaped in notes, so that they can be called as they stand', async () => {
    const id = 'a"b\\c\n\0{}'
    const text = numberedLines(1000)
    const run = await textRun(text, id)
    const calls = [
      (await run.content('r1')).body.content,
      (await run.recall(`{"id":${quoted(id)}}`)).body.text,
    ]
    for (const shown of calls) {
      const call = /recall (\{.*\}\})(?: returns| continues)/.exec(shown ?? '')?.[1] ?? ''
      const { status, body } = await run.recall(call)
      expect([status, body.evidence_id]).toEqual([200, id])
    }
  })

  it('goes on even where the handle cannot name it', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id":"r3","output":1}')
    await run.put('{"tool_use_id":"$r3","output":2}')
    const id = '\0'.repeat(2048)
    const text = numberedLines(600)
    await run.put(`{"tool_use_id":${quoted(id)},"output":${quoted(text)}}`)
    expect(joined(await recallAll(run, id))).toBe(text)
  })
})

describe('after a suspension is answered', () => {
  it('its id recalls the answer, and the id it moved to recalls its reason', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id":"a","suspension":{"reason":"approve?","input_schema":{}}}')
    expect((await run.recall('{"id":"a"}')).body.content).toBe('approve?')
    await run.put('{"tool_use_id":"a","output":"approved"}')
    expect((await run.recall('{"id":"a"}')).body.content).toBe('approved')
    expect((await run.recall('{"id":"a~suspension"}')).body.content).toBe('approve?')
  })
})

describe('the tool definition', () => {
  it.each([
    ['anthropic', 'input_schema'],
    ['mcp', 'inputSchema'],
  ])('has the shape of %s', async (provider, member) => {
    const { status, body } = await api.call('GET', `/v1/tools/recall?provider=${provider}`)
    expect(status).toBe(200)
    expect(body['name']).toBe('recall')
    expect(body[member]).toMatchObject({ type: 'object', required: ['id'] })
  })

  it('has the shape of openai', async () => {
    const { body } = await api.call('GET', '/v1/tools/recall?provider=openai')
    expect(body).toMatchObject({
      type: 'function',
      function: { name: 'recall', parameters: { required: ['id'] } },
    })
    expect((await api.call('GET', '/v1/tools/recall?provider=other')).status).toBe(400)
  })
})
