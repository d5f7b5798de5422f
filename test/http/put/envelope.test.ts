import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('the envelope of a put', () => {
  it('keeps an output of null as a result', async () => {
    const run = api.newRun()
    const put = await run.put('{"output": null}')
    expect(put.status).toBe(201)
    expect(put.body).toMatchObject({
      handle: 'r1',
      kind: 'json',
      outcome: 'output',
      total_bytes: 4,
    })
    expect(put.body.content).toBe('null')
    expect((await run.value('r1')).text).toBe('null')
  })

  it.each([
    ['{}', 'none'],
    ['{"tool_use_id": "a"}', 'none'],
    ['{"output": 1, "failure": {"message": "m"}}', '2 of them'],
    ['{"output": null, "suspension": {"reason": "r", "input_schema": {}}}', '2 of them'],
  ])('needs exactly one of output, failure and suspension: %s', async (envelope, has) => {
    const run = api.newRun()
    const put = await run.put(envelope)
    expect(put.status).toBe(400)
    expect(put.body).toMatchObject({ code: 'invalid_request' })
    expect(put.body.detail).toContain('exactly one of output, failure, suspension')
    expect(put.body.detail).toContain(has)
    expect((await run.read()).status).toBe(404)
  })

  it.each([
    ['{"output": 1, "outptu": 2}', 'outptu'],
    ['{"output": 1, "__proto__": 2}', '__proto__'],
    ['{"failure": {"message": "m", "mesage": "n"}}', 'mesage'],
    ['{"suspension": {"reason": "r", "input_schema": {}, "until": 1}}', 'until'],
  ])('refuses an unknown member and names it: %s', async (envelope, name) => {
    const put = await api.newRun().put(envelope)
    expect(put.status).toBe(400)
    expect(put.body.code).toBe('invalid_request')
    expect(put.body.detail).toContain(`"${name}"`)
  })

  it.each([
    '{"output": 1, "output": 2}',
    '{"tool_use_id": "a", "tool_use_id": "a", "output": 1}',
    '{"failure": {"message": "m", "message": "m"}}',
    String.raw`{"output": 1, "\u006futput": 2}`,
  ])('refuses a member that is there twice: %s', async (envelope) => {
    const put = await api.newRun().put(envelope)
    expect(put.status).toBe(400)
    expect(put.body.detail).toContain('twice')
  })

  it.each([
    '{"tool_use_id": 5, "output": 1}',
    '{"tool_name": null, "output": 1}',
    '{"tool_name": "", "output": 1}',
    '{"render": "Auto", "output": 1}',
    '{"failure": {"message": 5}}',
    '{"failure": {"message": "m", "attempts": "2"}}',
    '{"failure": {"message": "m", "attempts": -1}}',
    '{"failure": {"message": "m", "attempts": 4294967296}}',
    '{"failure": {"message": "m", "kind": "other"}}',
    '{"failure": {}}',
    '{"failure": {"message": "m", "messages": ["n"]}}',
    '{"failure": {"messages": []}}',
    '{"failure": "m"}',
    '{"failure": null}',
    '{"suspension": {"reason": "r"}}',
    '{"suspension": {"reason": 1, "input_schema": {}}}',
    '[1]',
    '"output"',
    'null',
  ])('is not coerced into what it is not: %s', async (envelope) => {
    const run = api.newRun()
    const put = await run.put(envelope)
    expect(put.status).toBe(400)
    expect(put.body.code).toBe('invalid_request')
    expect((await run.read()).status).toBe(404)
  })

  it('leaves strings that look like numbers, and numbers that look like strings, as they are', async () => {
    const run = api.newRun()
    await run.put('{"output": {"a": "5", "b": 5, "c": null, "d": "", "e": "true"}}')
    expect((await run.value('r1')).text).toBe('{"a": "5", "b": 5, "c": null, "d": "", "e": "true"}')
  })

  it('takes empty strings, no attempts and an empty schema as what they are', async () => {
    const run = api.newRun()
    expect((await run.put('{"output": ""}')).body).toMatchObject({ kind: 'text', content: '' })
    expect((await run.put('{"failure": {"message": "", "attempts": 0}}')).status).toBe(201)
    expect((await run.put('{"suspension": {"reason": "", "input_schema": {}}}')).status).toBe(201)
    expect((await run.value('r2')).text).toContain('"attempts":0')
  })

  it.each([
    ['{"output": }', 'invalid_json'],
    ['{"output": 1', 'invalid_json'],
    ['{"output": 01}', 'invalid_json'],
    ['{"output": NaN}', 'invalid_json'],
    ['{"output": 1} x', 'invalid_json'],
    ['\ufeff{"output": 1}', 'invalid_json'],
    ['', 'invalid_request'],
    [' ', 'invalid_json'],
  ])('must be JSON: %j', async (envelope, code) => {
    const put = await api.newRun().put(envelope)
    expect([put.status, put.body.code]).toEqual([400, code])
  })

  it.each([
    'Application/JSON',
    'application/json; charset=UTF-8',
    'application/json;charset="utf8"',
  ])('is an envelope as %s too', async (type) => {
    const put = await api.newRun().putRaw('{"tool_use_id":"a","output":1}', type)
    expect([put.status, put.body.evidence_id]).toEqual([201, 'a'])
  })

  it('must be UTF-8', async () => {
    const body = Buffer.concat([
      Buffer.from('{"output": "'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ])
    const put = await api.newRun().putRaw(body, 'application/json')
    expect([put.status, put.body.code]).toEqual([400, 'invalid_utf8'])
  })

  it('may nest to the limit and no deeper', async () => {
    const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
    const run = api.newRun()
    expect((await run.put(`{"output": ${nested(1023)}}`)).status).toBe(201)
    const deeper = await run.put(`{"output": ${nested(1024)}}`)
    expect([deeper.status, deeper.body.code]).toEqual([400, 'json_too_deep'])
    expect(deeper.body.detail).toContain('1024')
    expect((await run.read()).body.results).toBe(1)
  })
})

// Fault: a document whose only member is "output" was unwrapped without a word.
describe('a JSON document that looks like an envelope', () => {
  const DOCUMENT = '{ "output": 12345678901234567890 }'
  const bare = (body: string, query = '', type = 'application/json') => {
    const url = `${api.newRun().path}/results?envelope=none${query}`
    return api.app.inject({ method: 'POST', url, payload: body, headers: { 'content-type': type } })
  }

  it('is unwrapped, and the answer says so when there is nothing beside the output', async () => {
    const run = api.newRun()
    const put = await run.put(DOCUMENT)
    expect(put.body).toMatchObject({ unwrapped: true, total_bytes: 20 })
    expect((await run.put(DOCUMENT)).body.unwrapped).toBe(true)
    const named = await run.put('{"output": 1, "render": "auto"}')
    expect(named.status).toBe(201)
    expect(Object.keys(named.body)).not.toContain('unwrapped')
  })

  it.each([DOCUMENT, '{"rows": [1.0], "rows": []}', '[1, 2]', '"a text"', 'null'])(
    'is kept whole with envelope=none: %s',
    async (document) => {
      const put = await bare(document, '&tool_use_id=a&tool_name=t')
      expect(put.statusCode).toBe(201)
      const { run_id, evidence_id, total_bytes, ...answer } = put.json()
      expect({ evidence_id, total_bytes }).toEqual({
        evidence_id: 'a',
        total_bytes: document.length,
      })
      expect(answer).not.toHaveProperty('unwrapped')
      const value = await api.app.inject({ url: `/v1/runs/${run_id}/results/r1/value` })
      expect(value.payload).toBe(document)
      expect(value.headers['content-type']).toBe('application/json')
    },
  )

  it.each([
    ['{"output": 1', 'application/json', 'invalid_json'],
    ['', 'application/json', 'invalid_json'],
    ['{}', 'application/json; charset=latin1', 'unsupported_media_type'],
  ])('is refused with envelope=none when it is no JSON: %j', async (body, type, code) => {
    const put = await bare(body, '', type)
    expect(put.json().code).toBe(code)
  })

  it.each(['{"rows": []}', '[1, 2]', '{}'])(
    'is refused as an envelope with a word of envelope=none: %s',
    async (body) => {
      const put = await api.newRun().put(body)
      expect(put.status).toBe(400)
      expect(put.body.detail).toContain('?envelope=none')
    },
  )
})
