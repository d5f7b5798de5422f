import { afterAll, describe, expect, it } from 'vitest'
import { quoted, startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('the envelope of a put', () => {
  it('keeps an output of null as a result', async () => {
    const run = api.newRun()
    const put = await run.put('{"output": null}')
    expect(put.status).toBe(201)
    expect(put.body).toMatchObject({ handle: 'r1', kind: 'json', outcome: 'output', total_bytes: 4 })
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

  it('must be UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('{"output": "'), Buffer.from([0xff]), Buffer.from('"}')])
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

describe('the tool_use_id of a put', () => {
  it.each([
    'call/1|2:3%4',
    'é',
    'e\u0301',
    '../../etc/passwd',
    "'; DROP TABLE results; --",
    'a\u0000b',
    '\n',
    '"quoted"\\',
    '🦊',
    ' ',
    'x'.repeat(2048),
    '€'.repeat(682),
  ])('becomes the evidence id as it is: %j', async (id) => {
    const run = api.newRun()
    const put = await run.put(`{"tool_use_id": ${quoted(id)}, "output": "kept"}`)
    expect(put.status).toBe(201)
    expect(put.body.evidence_id).toBe(id)
    expect((await run.recall(`{"id": ${quoted(id)}}`)).body).toMatchObject({
      content: 'kept',
      evidence_id: id,
    })
    const { items } = (await run.list(`?tool_use_id=${encodeURIComponent(id)}`)).body
    expect(items.map((item) => item.handle)).toEqual(['r1'])
  })

  it('is not normalized: two ways to write é are two ids', async () => {
    const run = api.newRun()
    await run.put(String.raw`{"tool_use_id": "\u00e9", "output": "one"}`)
    await run.put('{"tool_use_id": "e\u0301", "output": "two"}')
    expect((await run.recall('{"id": "é"}')).body.content).toBe('one')
    expect((await run.recall('{"id": "e\u0301"}')).body.content).toBe('two')
  })

  it.each(['x'.repeat(2049), '€'.repeat(683)])('has at most 2,048 bytes', async (id) => {
    const run = api.newRun()
    const put = await run.put(`{"tool_use_id": "${id}", "output": 1}`)
    expect(put.status).toBe(400)
    expect(put.body).toMatchObject({ limit: 'evidence_id_bytes', value: 2048 })
    expect((await run.read()).status).toBe(404)
  })

  it('must be well-formed', async () => {
    const put = await api.newRun().put(String.raw`{"tool_use_id": "a\ud800", "output": 1}`)
    expect([put.status, put.body.code]).toEqual([400, 'invalid_request'])
    expect(put.body.detail).toContain('surrogate')
  })

  it.each(['{"output": 1}', '{"tool_use_id": "", "output": 1}'])(
    'gives way to the handle when it is missing or empty: %s',
    async (envelope) => {
      const run = api.newRun()
      expect((await run.put(envelope)).body.evidence_id).toBe('r1')
      expect((await run.result('r1')).body.tool_use_id).toBeNull()
      expect((await run.recall('{"id": "r1"}')).body.content).toBe('1')
    },
  )
})

describe('an id that is put again', () => {
  it('is a retry with the same bytes: same answer, nothing counted', async () => {
    const run = api.newRun()
    const envelope = '{"tool_use_id": "a", "tool_name": "t", "output": {"n": 1.0}}'
    const first = await run.put(envelope)
    const totals = (await run.read()).body
    const again = await run.put(envelope)
    expect([first.status, again.status]).toEqual([201, 200])
    expect(again.body).toEqual(first.body)
    expect((await run.read()).body).toEqual(totals)
  })

  it('is a new result with other bytes, under ~2, ~3 and so on', async () => {
    const run = api.newRun()
    const puts = ['1', '1.0', '2', '"1"']
    const ids = []
    for (const output of puts) {
      ids.push((await run.put(`{"tool_use_id": "a", "output": ${output}}`)).body.evidence_id)
    }
    expect(ids).toEqual(['a', 'a~2', 'a~3', 'a~4'])
    for (const [i, output] of puts.entries()) {
      expect((await run.value(`r${i + 1}`)).text).toBe(output)
    }
  })

  it('is a retry of a copy too, and that copy answers', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id": "a", "output": 1}')
    const copy = await run.put('{"tool_use_id": "a", "output": 2}')
    const again = await run.put('{"tool_use_id": "a", "output": 2}')
    expect(again.status).toBe(200)
    expect(again.body).toEqual(copy.body)
    expect((await run.read()).body.results).toBe(2)
  })

  it('is new with another outcome or kind, though the bytes are the same', async () => {
    const run = api.newRun()
    const failure = await run.put('{"tool_use_id": "a", "failure": {"message": "m"}}')
    const bytes = (await run.value('r1')).text
    const output = await run.put(`{"tool_use_id": "a", "output": ${bytes}}`)
    expect(failure.body.sha256).toBe(output.body.sha256)
    expect([output.status, output.body.evidence_id, output.body.outcome]).toEqual([201, 'a~2', 'output'])
    const text = await run.putRaw(bytes, 'text/plain', '?tool_use_id=a')
    expect([text.status, text.body.evidence_id, text.body.kind]).toEqual([201, 'a~3', 'text'])
  })

  it('keeps the first content even when the run has another limit since', async () => {
    const run = api.newRun()
    await run.open('{"verbatim_limit_chars": 2000}')
    const envelope = `{"tool_use_id": "a", "output": "${'x'.repeat(3000)}"}`
    const first = await run.put(envelope)
    await run.open('{"verbatim_limit_chars": 10000}')
    const again = await run.put(envelope)
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect(first.body.rendering).toBe('window')
  })

  it('without an id every put is a result of its own', async () => {
    const run = api.newRun()
    const handles = []
    for (let n = 0; n < 3; n++) handles.push((await run.put('{"output": 1}')).body.handle)
    expect(handles).toEqual(['r1', 'r2', 'r3'])
  })

  it('that looks like a handle which is taken gets a copy, one that is still free is its own', async () => {
    const run = api.newRun()
    await run.put('{"output": "first"}')
    const taken = await run.put('{"tool_use_id": "r1", "output": "second"}')
    const dollar = await run.put('{"tool_use_id": "$r1", "output": "third"}')
    const free = await run.put('{"tool_use_id": "r9", "output": "fourth"}')
    expect(taken.body.evidence_id).toBe('r1~2')
    expect(dollar.body.evidence_id).toBe('$r1~2')
    expect(free.body.evidence_id).toBe('r9')
    expect((await run.recall('{"id": "r1"}')).body.content).toBe('first')
    expect((await run.recall('{"id": "r9"}')).body.content).toBe('fourth')
  })

  it('a result takes the id of its suspension, and both can be retried afterwards', async () => {
    const run = api.newRun()
    const waiting = '{"tool_use_id": "a", "suspension": {"reason": "approve?", "input_schema": {}}}'
    const done = '{"tool_use_id": "a", "output": "done"}'
    expect((await run.put(waiting)).body.evidence_id).toBe('a')
    expect((await run.put(done)).body).toMatchObject({ handle: 'r2', evidence_id: 'a' })
    expect((await run.recall('{"id": "a"}')).body.content).toBe('done')
    expect((await run.recall('{"id": "a~suspension"}')).body.content).toBe('approve?')
    const again = [await run.put(waiting), await run.put(done)]
    expect(again.map(({ status, body }) => [status, body.handle, body.evidence_id])).toEqual([
      [200, 'r1', 'a~suspension'],
      [200, 'r2', 'a'],
    ])
    expect((await run.read()).body.results).toBe(2)
  })
})

describe('an Idempotency-Key', () => {
  const key = (value: string) => ({ 'idempotency-key': value })

  it('makes a put a retry whatever its bytes, and the first answer stands', async () => {
    const run = api.newRun()
    const first = await run.put('{"tool_use_id": "a", "output": 1}', key('k'))
    const again = await run.put('{"tool_use_id": "a", "output": 2}', key('k'))
    expect(again.status).toBe(200)
    expect(again.body).toEqual(first.body)
    expect((await run.read()).body.results).toBe(1)
  })

  it('makes equal bytes under another key a new result', async () => {
    const run = api.newRun()
    await run.put('{"tool_use_id": "a", "output": 1}', key('k1'))
    const other = await run.put('{"tool_use_id": "a", "output": 1}', key('k2'))
    expect([other.status, other.body.evidence_id]).toEqual([201, 'a~2'])
  })

  it('works for puts without an id, and only within its run', async () => {
    const [run, other] = [api.newRun(), api.newRun()]
    const statuses = []
    for (const target of [run, run, other]) {
      statuses.push((await target.put('{"output": 1}', key('k'))).status)
    }
    expect(statuses).toEqual([201, 200, 201])
  })

  it.each(['', 'k'.repeat(256)])('has from 1 to 255 characters', async (value) => {
    expect((await api.newRun().put('{"output": 1}', key(value))).status).toBe(400)
  })
})

describe('where a put begins a run', () => {
  it('two at once make one run with two handles', async () => {
    const run = api.newRun()
    const puts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => run.put(`{"tool_use_id": "c${n}", "output": ${n}}`)),
    )
    expect(puts.map(({ status }) => status)).toEqual(puts.map(() => 201))
    const numbers = puts.map(({ body }) => Number(body.handle.slice(1))).sort((a, b) => a - b)
    expect(numbers).toEqual(puts.map((_, i) => i + 1))
  })

  it('two equal ones at once are one result', async () => {
    const run = api.newRun()
    const puts = await Promise.all(
      Array.from({ length: 10 }, () => run.put('{"tool_use_id": "c", "output": "same"}')),
    )
    expect(puts.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(puts.map(({ text }) => text)).size).toBe(1)
  })
})
