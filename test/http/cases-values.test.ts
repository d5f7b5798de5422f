// The same for values: lessons about numbers, names, references and sizes, the whole way over HTTP.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

async function stateless<Body>(path: string, body: unknown): Promise<Body> {
  const { status, text } = await api.json('POST', `/v1/${path}`, JSON.stringify(body))
  if (status !== 200) throw new Error(text)
  return JSON.parse(text) as Body
}

describe('numbers and names', () => {
  it('of 64 bits keep every digit on every way', async () => {
    const run = api.newRun()
    const ids = ['17052480123456789', '-9223372036854775808', '18446744073709551615']
    const { body } = await run.put(`{"output":{"ids":[${ids}]}}`)
    for (const [i, id] of ids.entries()) {
      expect(body.content).toContain(id)
      expect((await run.recall('{"id":"r1"}')).body.content).toContain(id)
      const { text } = await run.resolve(`{"arguments":"$r1.ids.${i}"}`)
      expect(text.startsWith(`{"arguments":${id},`)).toBe(true)
    }
    const preview = await run.put(`{"render":"preview","output":[${ids}]}`)
    expect(preview.body.content).toContain(ids.join(', '))
  })

  it('that a parser cannot hold become neither null nor another number', async () => {
    const run = api.newRun()
    const { body } = await run.put('{"output":[1e400,-1e400,1e-400,1.0,1e3]}')
    expect(body.content).toBe('[1e400,-1e400,1e-400,1.0,1e3]')
  })

  it('that repeat come out one way everywhere: the last counts', async () => {
    const run = api.newRun()
    const { body } = await run.put('{"output":{"a":1,"b":0,"a":2}}')
    expect(body.content).toBe('{"a":2,"b":0}')
    expect(body.preview).toContain('a: 2, b: 0')
    expect((await run.resolve('{"arguments":"$r1.a"}')).body.arguments).toBe(2)
    const { content } = await stateless<{ content: string }>('content-string', { value: 1 })
    expect(content).toBe('1')
    const same = await api.json<{ content: string }>(
      'POST',
      '/v1/content-string',
      '{"value":{"a":1,"b":0,"a":2}}',
    )
    expect(same.body.content).toBe('{"a":2,"b":0}')
  })
})

describe('references', () => {
  it('pick what the next tool needs out of what the last one answered', async () => {
    const run = api.newRun()
    await run.put(
      '{"output":{"content":[{"type":"text","text":"x"}],"structuredContent":{"rows":[1]},"isError":false}}',
    )
    const { body } = await run.resolve(
      '{"arguments":"$r1.structuredContent","input_schema":{"type":"object","required":["rows"],"additionalProperties":false,"properties":{"rows":{"type":"array"}}}}',
    )
    expect([body.valid, body.arguments]).toEqual([true, { rows: [1] }])
  })

  it('that are typed wrong show as such, beside the error of type that they cause', async () => {
    const run = api.newRun()
    await run.put('{"output":[1]}')
    const { body } = await run.resolve(
      '{"arguments":{"modes":"$r3"},"input_schema":{"properties":{"modes":{"type":"array"}}}}',
    )
    expect(body.valid).toBe(false)
    expect(body.errors[0]?.path).toBe('/modes')
    expect(body.unresolved[0]).toMatchObject({
      reference: '$r3',
      reason: 'unknown_handle',
      available: ['r1'],
    })
  })

  it('are of their own run, and so are ids', async () => {
    const [alice, bob] = [api.newRun(), api.newRun()]
    await alice.put('{"tool_use_id":"same","output":"alice"}')
    await alice.put('{"output":"more"}')
    await bob.put('{"tool_use_id":"same","output":"bob"}')
    expect((await bob.resolve('{"arguments":["$r1","$r2"]}')).body.arguments).toEqual([
      'bob',
      '$r2',
    ])
    expect((await bob.recall('{"id":"same"}')).body.content).toBe('bob')
  })

  it('leave arguments that came as a string a string, and say so', async () => {
    const run = api.newRun()
    const { body } = await run.resolve(
      '{"arguments":{"who":"[\\"ann\\"]"},"input_schema":{"properties":{"who":{"type":"array"}}}}',
    )
    expect(body.arguments).toEqual({ who: '["ann"]' })
    expect(body.errors[0]).toMatchObject({
      path: '/who',
      code: 'type',
      received: expect.stringContaining('string'),
    })
    const whole = await run.resolve(
      '{"arguments":"{\\"who\\":1}","input_schema":{"type":"object"}}',
    )
    expect([whole.status, whole.body.valid]).toEqual([200, false])
  })

  it('are validated by schemas as they are found in the wild', async () => {
    const run = api.newRun()
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema#',
      type: 'object',
      'x-vendor': true,
      properties: {
        n: { type: 'integer', format: 'uint64' },
        d: { type: 'string', format: 'google-duration' },
        s: { pattern: '^[\\w\\-]+$' },
      },
    }
    const args = { n: 5, d: '3s', s: 'a-b' }
    const { body } = await run.resolve(JSON.stringify({ arguments: args, input_schema: schema }))
    expect([body.valid, body.arguments]).toEqual([true, args])
    for (const bad of [
      { $schema: 'https://example.test/my-meta' },
      { $ref: 'https://example.test/x.json' },
      { $ref: '#/$defs/none' },
    ]) {
      const { status, body: problem } = await run.resolve(
        JSON.stringify({ arguments: 1, input_schema: bad }),
      )
      expect([status, problem.code]).toEqual([422, 'invalid_schema'])
      expect(problem.detail).toMatch(/example\.test|\$defs\/none/)
    }
  })
})

describe('bodies', () => {
  it('of two megabytes are the normal case, on every route', async () => {
    const run = api.newRun()
    const text = 'x'.repeat(2_000_000)
    expect((await run.put(`{"output":"${text}"}`)).status).toBe(201)
    expect((await run.value('r1', '?as=text')).bytes).toHaveLength(2_000_000)
    expect((await run.resolve(`{"arguments":"${text}"}`)).status).toBe(200)
    for (const [path, body] of [
      ['preview', { handle: 'r1', value: text }],
      ['window', { content: text }],
      ['content-string', { value: text }],
      [
        'compaction/elide',
        { messages: [{ role: 'user', content: text }], keep_recent_tool_results: 0 },
      ],
    ] as const) {
      expect(Object.keys(await stateless<object>(path, body)).length).toBeGreaterThan(0)
    }
  })
})
