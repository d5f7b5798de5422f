// The same for transcripts: lessons about sentinels, elision, windows and triggers, over HTTP.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

/** The answer's text, and what it says. */
async function post(path: string, body: unknown) {
  const { status, text } = await api.json(
    'POST',
    `/v1/${path}`,
    typeof body === 'string' ? body : JSON.stringify(body),
  )
  expect([status, status === 200 ? '' : text]).toEqual([200, ''])
  return { text, body: JSON.parse(text) as Readonly<Record<string, unknown>> }
}

const call = (id: string, name: string) => ({
  role: 'assistant',
  content: [{ type: 'tool_use', id, name, input: {} }],
})
const result = (id: string, content: unknown, more: object = {}) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content, ...more }],
})
const elide = (messages: readonly unknown[], keep: number | null) =>
  post('compaction/elide', { messages, keep_recent_tool_results: keep })

describe('elision', () => {
  const BATCH = [
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'A', name: 'read', input: {} },
        { type: 'tool_use', id: 'B', name: 'grep', input: {} },
      ],
    },
    {
      role: 'user',
      content: [...result('A', 'a'.repeat(300)).content, ...result('B', 'b'.repeat(300)).content],
    },
    call('C', 'bash'),
    result('C', 'c'.repeat(300)),
  ]

  it('of part of a parallel batch leaves every call and every result in its place', async () => {
    const { body } = await elide(BATCH, 2)
    const expected = structuredClone(BATCH) as { content: { content?: unknown }[] }[]
    const block = expected[1]?.content[0]
    if (block !== undefined) block.content = '[Previous: used read]'
    expect(body['messages']).toEqual(expected)
    expect(body['elided']).toEqual([{ tool_use_id: 'A', tool_name: 'read', bytes: 300 }])
  })

  it('is by the number asked for: null and enough keep all, 0 keeps none', async () => {
    const messages = JSON.stringify(BATCH)
    for (const keep of [null, 3, 10]) {
      expect((await elide(BATCH, keep)).text).toContain(`"messages":${messages}`)
    }
    expect((await elide(BATCH, 0)).body['elided']).toHaveLength(3)
  })

  it('is the same each time, so that prompt caches hold', async () => {
    expect((await elide(BATCH, 1)).text).toBe((await elide(BATCH, 1)).text)
  })

  it('names a result without a call by the tool of last resort, and leaves calls that wait', async () => {
    const { body, text } = await elide(
      [result('ghost', 'g'.repeat(300)), call('A', 'read'), call('B', 'bash')],
      0,
    )
    expect(text).toContain('[Previous: used tool]')
    expect(body['messages']).toHaveLength(3)
    expect(text).toContain(JSON.stringify(call('B', 'bash')))
  })

  it('is by place where all ids are the same', async () => {
    const messages = ['one', 'two', 'three'].flatMap((word) => [
      call('same', 'read'),
      result('same', word.repeat(100)),
    ])
    const { text } = await elide(messages, 1)
    expect([text.includes('oneone'), text.includes('twotwo'), text.includes('threethree')]).toEqual(
      [false, false, true],
    )
  })

  it('spares up to 100 bytes, not characters', async () => {
    const contents = ['x'.repeat(100), 'y'.repeat(101), '€'.repeat(34)]
    const { body } = await elide(
      contents.flatMap((content, i) => [call(`${i}`, 't'), result(`${i}`, content)]),
      0,
    )
    expect(body['elided']).toMatchObject([{ tool_use_id: '1' }, { tool_use_id: '2', bytes: 102 }])
  })

  it('keeps that a result was an error, and members it does not know', async () => {
    const more = { is_error: true, cache_control: { type: 'ephemeral' }, x_custom: { n: 1.5 } }
    const { body, text } = await elide(
      [call('E', 'bash'), result('E', 'Traceback '.repeat(40), more)],
      0,
    )
    expect((body['messages'] as unknown[])[1]).toMatchObject({ content: [more] })
    expect(text).not.toContain('Traceback')
  })

  it('takes images with it', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AAAA'.repeat(500) },
    }
    const { text } = await elide(
      [call('I', 'screenshot'), result('I', [{ type: 'text', text: 'shot' }, image])],
      0,
    )
    expect(text).not.toContain('AAAA')
    expect(text).toContain('[Previous: used screenshot]')
  })

  it('inserts tool names as they are', async () => {
    const { text } = await elide([call('D', 'used $& $1 $$'), result('D', 'x'.repeat(300))], 0)
    expect(text).toContain('[Previous: used used $& $1 $$]')
  })
})

describe('sentinels', () => {
  it.each([
    '{"is_error":true,"error":"x"}',
    '{"__salvor_error":{"kind":"handler","message":"m"}}',
    '{"__salvor_error":{"kind":"handler","message":"m","attempts":4294967296}}',
    '{"__salvor_error":{"kind":"handler","message":"m","attempts":-1}}',
    '{"__salvor_error":{"kind":"handler","message":"m","attempts":1.5}}',
    '{"__salvor_error":{"kind":"handler","message":"m","attempts":1},"more":1}',
    '{"__salvor_suspend":{"reason":1,"input_schema":{}}}',
    '"__salvor_error"',
    '[]',
    'null',
  ])('are told from what only looks like one: %s', async (output) => {
    const { body } = await post('sentinels/decode', `{"output":${output}}`)
    expect(body).toEqual({ kind: 'output', suspension: null, failure: null })
  })

  it('come back as they went in', async () => {
    const failure = {
      kind: 'handler',
      message: 'a "quoted" \u0000 message',
      attempts: 4_294_967_295,
    }
    const encoded = await post('sentinels/encode', { failure })
    const decoded = await post('sentinels/decode', { output: encoded.body['output'] })
    expect(decoded.body).toEqual({ kind: 'failure', suspension: null, failure })
  })

  it('keep the whole chain of causes', async () => {
    const messages = ['tool load failed', 'fetch failed', 'connect ECONNREFUSED 127.0.0.1:8188']
    const { body } = await post('sentinels/encode', { failure: { messages } })
    expect(JSON.stringify(body)).toContain(
      'tool load failed: fetch failed: connect ECONNREFUSED 127.0.0.1:8188',
    )
  })
})

describe('windows', () => {
  it.each([
    ['🦊', 30_000, false],
    ['🦊', 30_001, true],
    ['漢', 30_000, false],
    ['x', 30_001, true],
  ])('count characters of %s: %i are windowed: %s', async (char, count, windowed) => {
    const { body } = await post('window', { content: char.repeat(count) })
    expect(body['windowed']).toBe(windowed)
  })

  it('say exactly what they leave out', async () => {
    const row = (n: number): string => `${String(n).padStart(6)} ${'p'.repeat(116)}`
    const content = Array.from({ length: 556 }, (_, i) => row(i + 1)).join('\n')
    const { body } = await post('window', { content, recall_id: 'ps-1' })
    const {
      start_line: start,
      end_line: end,
      chars,
    } = body['omitted'] as Record<'start_line' | 'end_line' | 'chars', number>
    const lines = String(body['content']).split('\n')
    expect(lines).toContain(
      `[lines ${start}–${end} omitted (${chars} chars); recall {"id": "ps-1", "range": {"start": ${start}, "end": ${end}}} returns them]`,
    )
    expect(lines.length - 1 + (end - start + 1)).toBe(556)
    expect(chars).toBe((end - start + 1) * 124)
  })
})

describe('triggers', () => {
  const settings = { auto_threshold_tokens: 50_000, auto_threshold_percent: 75 }

  it.each([
    [{ ...settings, context_window: null, estimated_tokens: 60_000 }, true],
    [{ ...settings, context_window: 1_000_000, estimated_tokens: 60_000 }, false],
    [{ ...settings, context_window: 1_000_000, estimated_tokens: 760_000 }, true],
    [
      {
        auto_threshold_tokens: null,
        auto_threshold_percent: null,
        context_window: 1_000_000,
        estimated_tokens: 999_999_999,
      },
      false,
    ],
    [
      {
        auto_threshold_tokens: 50_000,
        auto_threshold_percent: null,
        context_window: 1_000_000,
        estimated_tokens: 60_000,
      },
      true,
    ],
  ])('go by the share of a known window, else by the number: %j', async (body, fires) => {
    expect((await post('compaction/trigger', body)).body['fires']).toBe(fires)
  })
})

describe('a plan with a run', () => {
  it('first keeps the whole transcript, which its evidence id recalls', async () => {
    const run = api.newRun()
    const messages = Array.from({ length: 10 }, (_, i) => ({
      role: i % 2 === 0 ? 'user' : 'assistant',
      content: `turn ${i}`,
    }))
    const { body } = await post('compaction/plan', {
      messages,
      preserve_recent_user_tokens: 1,
      run_id: run.id,
    })
    const id = String(body['evidence_id'])
    expect((await run.recall(JSON.stringify({ id }))).body).toMatchObject({
      evidence_id: id,
      content: JSON.stringify(messages, null, 2),
    })
    expect((await run.value('r1')).text).toBe(JSON.stringify(messages))
    const without = await post('compaction/plan', { messages, preserve_recent_user_tokens: 1 })
    expect(without.body['evidence_id']).toBeNull()
  })
})
