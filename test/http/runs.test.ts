import { afterAll, describe, expect, it } from 'vitest'
import type { RunAnswer } from '../../src/runs/lifecycle.ts'
import { type PageBody, startApi } from '../support/api.ts'
import { NOW } from '../support/ledger.ts'

const api = await startApi()
afterAll(() => api.close())

describe('PUT of a run', () => {
  it('opens it with the defaults, and changes it when it is open', async () => {
    const run = api.newRun()
    const opened = await run.open()
    expect(opened.status).toBe(201)
    expect(opened.body).toEqual({
      run_id: run.id,
      state: 'open',
      format: 'reference',
      ttl_seconds: 604_800,
      verbatim_limit_chars: 30_000,
      tool_count: 0,
      tool_bytes: 0,
      tools: [],
      created_at: new Date(NOW).toISOString(),
      last_request_at: new Date(NOW).toISOString(),
      ended_at: null,
      results: 0,
      kept_bytes: 0,
      produced_chars: 0,
      shown_chars: 0,
    })
    const changed = await run.open('{"ttl_seconds":60}')
    expect([changed.status, changed.body.ttl_seconds]).toEqual([200, 60])
    expect((await run.read()).body).toEqual(changed.body)
  })

  it('leaves what is absent as it is, and null sets the default', async () => {
    const run = api.newRun()
    await run.open('{"ttl_seconds":60,"verbatim_limit_chars":2000}')
    expect((await run.open('{"ttl_seconds":61}')).body).toMatchObject({
      ttl_seconds: 61,
      verbatim_limit_chars: 2000,
    })
    expect((await run.open('{"ttl_seconds":null,"verbatim_limit_chars":null}')).body).toMatchObject(
      {
        ttl_seconds: 604_800,
        verbatim_limit_chars: 30_000,
      },
    )
  })

  it('merges tools by name, and null removes one', async () => {
    const run = api.newRun()
    await run.open(
      '{"tools":{"b":{"input_schema":{}},"a":{"input_schema":true},"2":{"input_schema":{}},"__proto__":{"input_schema":{"type":"array"}}}}',
    )
    const merged = await run.open('{"tools":{"b":null,"c":{"input_schema":{}},"none":null}}')
    expect(merged.body.tools).toEqual(['2', '__proto__', 'a', 'c'])
    expect((await run.open('{}')).body.tools).toEqual(['2', '__proto__', 'a', 'c'])
    const { body } = await run.resolve('{"arguments":{},"tool_name":"__proto__"}')
    expect(body.valid).toBe(false)
  })

  it('needs no body', async () => {
    const empty = await api.call('PUT', api.newRun().path)
    const json = await api.call('PUT', api.newRun().path, '', {
      'content-type': 'application/json',
    })
    expect([empty.status, json.status]).toEqual([201, 201])
  })

  it.each([
    ['{"ttl_seconds":0}', 'ttl_seconds'],
    ['{"ttl_seconds":"60"}', 'ttl_seconds'],
    ['{"ttl_seconds":1.5}', 'ttl_seconds'],
    ['{"ttl_seconds":1e400}', 'ttl_seconds'],
    ['{"verbatim_limit_chars":1999}', 'verbatim_limit_chars'],
    ['{"verbatim_limit_chars":1000001}', 'verbatim_limit_chars'],
    ['{"format":"mine"}', 'format'],
    ['{"tools":[]}', 'tools'],
    ['{"tools":{"a":{}}}', 'input_schema'],
    ['{"tools":{"a":{"input_schema":{},"x":1}}}', 'tools'],
    ['{"tools":{"":{"input_schema":{}}}}', 'tools'],
    [`{"tools":{"${'x'.repeat(257)}":null}}`, 'tools'],
    [String.raw`{"tools":{"\ud800":{"input_schema":{}}}}`, 'tools'],
    ['{"ttl":1}', '"ttl"'],
    ['{"ttl_seconds":1,"ttl_seconds":2}', 'ttl_seconds'],
    ['[]', 'object'],
  ])('refuses %s, and says what', async (body, word) => {
    const run = api.newRun()
    const answer = await run.open(body)
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request'])
    expect(answer.body.detail).toContain(word)
    expect((await run.read()).status).toBe(404)
  })

  it.each([
    '{"verbatim_limit_chars":2000}',
    '{"verbatim_limit_chars":1000000}',
    '{"ttl_seconds":1}',
    '{"format":"reference"}',
  ])('takes %s', async (body) => {
    expect((await api.newRun().open(body)).status).toBe(201)
  })
})

describe('the id of a run', () => {
  it.each(['a', '_', '7', 'a.b:c_d-e', 'x'.repeat(128), 'A..'])('may be %s', async (id) => {
    const run = api.run(id)
    expect((await run.put('{"output":1}')).status).toBe(201)
    expect((await run.read()).body.run_id).toBe(id)
    expect((await run.value('r1')).text).toBe('1')
    await run.end('?purge=true')
  })

  it.each([
    '.a',
    '-a',
    ':a',
    'x'.repeat(129),
    '%C3%A9',
    'a%2Fb',
    'a%20b',
    '%00',
    '..%2Fpwned',
    'a%0A',
  ])('may not be %s', async (id) => {
    const run = api.run(id)
    for (const { status, body } of [
      await run.put('{"output":1}'),
      await run.open(),
      await run.read(),
      await run.recall('{"id":"r1"}'),
    ]) {
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.detail).toContain('run_id')
    }
  })
})

describe('totals', () => {
  it('are exact: results, bytes kept, characters produced and shown', async () => {
    const run = api.newRun()
    const answers = [
      await run.put('{"output":{"b":1,"a":[1.0,"é"]}}'),
      await run.putRaw(`${'🦊'.repeat(20_000)}\n`.repeat(3), 'text/plain'),
      await run.putRaw('bytes', 'image/png'),
      await run.put(`{"failure":{"message":"${'m'.repeat(600)}"}}`),
      await run.put(`{"failure":{"message":"${'m'.repeat(600)}"}}`),
      await run.put('{"suspension":{"reason":"why?","input_schema":{}}}'),
      await run.put(`{"render":"preview","output":[${'1,'.repeat(40_000)}1]}`),
    ].map(({ body }) => body)
    const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
    const expected = {
      results: 7,
      kept_bytes: sum(answers.map(({ total_bytes }) => total_bytes)),
      produced_chars: sum(answers.map(({ total_chars }) => total_chars ?? 0)),
      shown_chars: sum(answers.map(({ content }) => [...(content ?? '')].length)),
    }
    expect((await run.read()).body).toMatchObject(expected)
    await api.restart()
    expect((await run.read()).body).toMatchObject(expected)
  })
})

describe('lists', () => {
  it('page through the runs, in the order of their ids', async () => {
    const other = await startApi()
    try {
      for (const id of ['b', 'a', 'C', '10', '2', '_']) await other.run(id).open()
      const seen: string[] = []
      let query = '?limit=2'
      for (let page = 0; page < 3; page++) {
        const { body } = await other.call<PageBody<RunAnswer>>('GET', `/v1/runs${query}`)
        seen.push(...body.items.map(({ run_id }) => run_id))
        query = `?limit=2&after=${body.next}`
        expect(body.next === null).toBe(page === 2)
      }
      expect(seen).toEqual(['10', '2', 'C', '_', 'a', 'b'])
      await other.run('a').end()
      await other.run('b').end('?purge=true')
      const { body } = await other.call<PageBody<RunAnswer>>('GET', '/v1/runs')
      expect(body.items.map(({ run_id, state }) => `${run_id} ${state}`)).toContain('a ended')
      expect(body.items).toHaveLength(5)
      expect(body.next).toBeNull()
    } finally {
      await other.close()
    }
  })

  it('page through the results of a run, all or those put under an id', async () => {
    const run = api.newRun()
    for (let n = 1; n <= 12; n++) {
      await run.put(`{"tool_use_id":"${n % 2 === 0 ? 'even' : `odd${n}`}","output":${n}}`)
    }
    const handles: string[] = []
    let next: string | null = ''
    while (next !== null) {
      const { body }: Awaited<ReturnType<typeof run.list>> = await run.list(
        `?limit=5${next === '' ? '' : `&after=${next}`}`,
      )
      handles.push(...body.items.map(({ handle }) => handle))
      next = body.next
    }
    expect(handles).toEqual(Array.from({ length: 12 }, (_, i) => `r${i + 1}`))
    const even = (await run.list('?tool_use_id=even')).body
    expect(even.items.map(({ evidence_id }) => evidence_id)).toEqual([
      'even',
      'even~2',
      'even~3',
      'even~4',
      'even~5',
      'even~6',
    ])
    expect((await run.list('?tool_use_id=none')).body).toEqual({ items: [], next: null })
    const [item] = even.items
    expect(item).toEqual((await run.result('r2')).body)
  })

  it.each(['?limit=0', '?limit=1001', '?limit=x', '?limit=1.5', '?page=2', '?limit=1&limit=2'])(
    'refuse %s',
    async (query) => {
      const run = api.newRun()
      await run.open()
      expect((await run.list(query)).body.code).toBe('invalid_request')
      expect((await api.call('GET', `/v1/runs${query}`)).body.code).toBe('invalid_request')
    },
  )

  it('take a limit of 1 and of 1000', async () => {
    for (const limit of [1, 1000]) {
      expect((await api.call('GET', `/v1/runs?limit=${limit}`)).status).toBe(200)
    }
  })

  it('of an unknown run is a 404', async () => {
    const run = api.newRun()
    expect((await run.list()).body.code).toBe('not_found')
    expect((await run.result('r1')).body.code).toBe('not_found')
  })
})
