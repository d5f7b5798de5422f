import { afterAll, describe, expect, it } from 'vitest'
import { quoted, startApi } from '../../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

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
