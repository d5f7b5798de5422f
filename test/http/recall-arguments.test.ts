import { afterAll, describe, expect, it } from 'vitest'
import { numberedLines, type RunCalls, startApi } from '../support/api.ts'

const LIMIT = 2000

const api = await startApi({ COATCHECK_VERBATIM_LIMIT_CHARS: String(LIMIT) })
afterAll(() => api.close())

async function textRun(text: string, id = 'a'): Promise<RunCalls> {
  const run = api.newRun()
  const put = await run.putRaw(text, 'text/plain', `?tool_use_id=${encodeURIComponent(id)}`)
  expect(put.status).toBe(201)
  return run
}

const TEN = numberedLines(10)

describe('what models send', () => {
  it.each([
    ['{"id":"a","range":null,"chars":null}', TEN],
    ['{"id":"a","range":""}', TEN],
    ['{"id":"a","range":{}}', TEN],
    ['{"id":"a","range":{"start":null,"end":null}}', TEN],
    ['{"id":"a","range":{"start":"","end":""}}', TEN],
    ['{"id":"a","range":{"start":0,"end":0}}', TEN],
    ['{"id":"a","chars":{"start":0,"end":0}}', TEN],
    ['{"id":"a","range":{"start":9,"end":0}}', 'line 9\nline 10\n'],
    ['{"id":"a","range":{"start":9,"end":null}}', 'line 9\nline 10\n'],
    ['{"id":"a","range":{"start":"2","end":"2"}}', 'line 2\n'],
    ['{"id":"a","range":{"start":" 2 ","end":"2.0"}}', 'line 2\n'],
    ['{"id":"a","range":{"start":2.0,"end":2e0}}', 'line 2\n'],
    ['{"id":"a","range":{"start":10,"end":1e400}}', 'line 10\n'],
    ['{"id":"a","range":{"start":2,"end":2},"chars":null}', 'line 2\n'],
  ])('is read where it is plain: %s', async (call, content) => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall(call)
    expect([status, body.content]).toEqual([200, content])
    expect(body.ignored).toEqual([])
  })

  it('may have members that mean nothing; these are listed', async () => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall(
      '{"id":"a","reason":"?","range":{"start":2,"end":2,"step":1},"\\ud800":1}',
    )
    expect([status, body.content]).toEqual([200, 'line 2\n'])
    expect(body.ignored).toEqual(['reason', '\ufffd', 'range.step'])
  })

  it.each([
    '"range":{"start":0,"end":3}',
    '"range":{"start":-1,"end":3}',
    '"range":{"start":1,"end":-3}',
    '"range":{"start":11,"end":12}',
    '"range":{"start":11}',
    '"range":{"start":3,"end":2}',
    '"chars":{"start":-1}',
    '"chars":{"start":73}',
    '"chars":{"start":5,"end":5}',
    '"chars":{"start":5,"end":4}',
  ])(
    'is refused where it would mean something else, and says how much there is: %s',
    async (span) => {
      const run = await textRun(TEN)
      const { status, body } = await run.recall(`{"id":"a",${span}}`)
      expect([status, body.code]).toEqual([400, 'invalid_range'])
      if (span.includes('-')) return
      expect(body).toMatchObject({ total_lines: 10, total_chars: TEN.length })
      expect(body.detail).toMatch(/numbered from [01].*there are (?:10|71)/)
    },
  )

  it.each(['-1', '"-3"'])(
    'says how lines are numbered and how many there are for %s too',
    async (start) => {
      const run = await textRun(TEN)
      const { status, body } = await run.recall(`{"id":"a","range":{"start":${start}}}`)
      expect([status, body.code]).toEqual([400, 'invalid_range'])
      expect(body.detail).toMatch(/numbered from 1.*there are 10/)
    },
  )

  it.each([
    '"range":{"start":1.5}',
    '"range":{"start":"two"}',
    '"range":{"start":[1]}',
    '"range":[1,2]',
    '"range":"1-2"',
    '"range":true',
  ])('is refused where it is no range: %s', async (span) => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall(`{"id":"a",${span}}`)
    expect([status, body.code]).toEqual([400, 'invalid_range'])
  })

  it.each([
    '{}',
    '{"id":""}',
    '{"id":null}',
    '{"id":5}',
    '[]',
    '"a"',
    '{"range":{"start":1,"end":2}}',
  ])('must name an id: %s', async (call) => {
    const run = await textRun(TEN)
    const { status, body } = await run.recall(call)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })
})
