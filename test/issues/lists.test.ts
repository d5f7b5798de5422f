// Lists whose items are large: a preview is as long as the names in its value.
import { afterAll, describe, expect, it } from 'vitest'
import { type PageBody, startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('a page of results', () => {
  // Fault: a page of 1,000 results with such previews was gigabytes.
  it('ends before its previews are too much, its next goes on, and nothing is left out', async () => {
    const run = api.newRun()
    const LARGE = 1_500_000
    // of each the preview is cut to 1,000,000 characters
    const sizes = [1, LARGE, LARGE, LARGE, LARGE, LARGE, 1, LARGE]
    for (const size of sizes) await run.put(`{"output":{"${'n'.repeat(size)}":1}}`)
    const pages: (readonly string[])[] = []
    let query: string | null = '?limit=100'
    while (query !== null) {
      const { body }: Awaited<ReturnType<typeof run.list>> = await run.list(query)
      pages.push(body.items.map(({ handle }) => handle))
      query = body.next === null ? null : `?limit=100&after=${body.next}`
    }
    expect(pages).toEqual([
      ['r1', 'r2', 'r3', 'r4', 'r5'],
      ['r6', 'r7', 'r8'],
    ])
  })

  // Fault: one preview of 60 MB made an answer of 60 MB.
  it('leaves out a preview that is larger than a page, which the result itself has', async () => {
    const run = api.newRun()
    await run.put(`{"output":{"${'\\u0001'.repeat(900_000)}":1}}`)
    const { status, text, body } = await run.list()
    expect([status, body.items[0]?.preview, text.length < 2_000]).toEqual([200, null, true])
    expect((await run.result('r1')).body.preview.length).toBeGreaterThan(900_000)
  })

  // Fault: a handle that is not there was answered by reading whole rows, 20 of them, for their handles.
  it('is not read to say which handles there are', async () => {
    const run = api.newRun()
    for (let n = 0; n < 21; n++) await run.put('{"output":1}')
    const { body } = await run.result('r99')
    expect(body).toMatchObject({ code: 'not_found', detail: expect.stringContaining('r20, …') })
  })

  it('ends early for the results of one id too', async () => {
    const run = api.newRun()
    for (let n = 0; n < 6; n++) {
      await run.put(`{"tool_use_id":"x","output":{"${'n'.repeat(1_500_000)}":${n}}}`)
    }
    const first = (await run.list('?tool_use_id=x')).body
    expect([first.items.length, first.next]).toEqual([4, 'r4'])
    const rest = (await run.list(`?tool_use_id=x&after=${first.next}`)).body
    expect([rest.items.map(({ handle }) => handle), rest.next]).toEqual([['r5', 'r6'], null])
  })
})

describe('a page of runs', () => {
  // Fault: 50,000 tools with long names in each of 30 runs made a page of 376 MB, and `/livez` waited 3.3 s for it.
  it('counts the tools of a run instead of naming them, and a run has at most so many', async () => {
    const run = api.newRun()
    const tools = (count: number, from = 0): string =>
      JSON.stringify({
        tools: Object.fromEntries(
          Array.from({ length: count }, (_, n) => [
            `${'n'.repeat(250)}${from + n}`,
            { input_schema: true },
          ]),
        ),
      })
    const many = await run.open(tools(1_001))
    expect([many.status, many.body]).toMatchObject([
      422,
      { code: 'over_limit', limit: 'tools_per_run', value: 1_000 },
    ])
    expect((await run.read()).status).toBe(404)
    expect((await run.open(tools(1_000))).body).toMatchObject({ tool_count: 1_000 })
    const more = await run.open(tools(1, 1_000))
    expect([more.status, more.body]).toMatchObject([422, { limit: 'tools_per_run' }])
    const listed = await api.call<PageBody<object>>('GET', `/v1/runs?prefix=${run.id}`)
    expect(listed.body.items).toMatchObject([{ run_id: run.id, tool_count: 1_000 }])
    expect(listed.body.items[0]).not.toHaveProperty('tools')
    expect(listed.text.length).toBeLessThan(1_000)
  })

  // Fault: with 300 random ids the newest run could not be found.
  it('is ordered and filtered as asked for', async () => {
    const runs = [api.newRun(), api.newRun(), api.newRun()]
    for (const run of runs) {
      await run.open()
      api.clock.now += 1_000
    }
    await runs[1]?.end()
    const prefix = runs[0]?.id.slice(0, -1) ?? ''
    const ids = async (query: string): Promise<readonly string[]> => {
      const path = `/v1/runs?prefix=${prefix}${query}`
      const { body } = await api.call<PageBody<{ run_id: string }>>('GET', path)
      return body.items.map(({ run_id }) => run_id)
    }
    const [first, second, third] = runs.map(({ id }) => id)
    expect(await ids('&order=created_at&desc=true&limit=1')).toEqual([third])
    expect(await ids('&order=last_request_at&desc=true&limit=2')).toEqual([second, third])
    expect(await ids('&state=ended')).toEqual([second])
    expect((await ids('&state=open')).slice(-2)).toEqual([first, third])
    const wrong = ['?order=name', '?desc=1', '?state=purged', '?order=created_at&after=x']
    for (const query of wrong) {
      const { status, body } = await api.call('GET', `/v1/runs${query}`)
      expect([query, status, body.code]).toEqual([query, 400, 'invalid_request'])
    }
  })
})

describe('a page of results with filters', () => {
  it('has only those that match all', async () => {
    const run = api.newRun()
    await run.put('{"tool_name":"a","output":"x"}')
    await run.put('{"tool_name":"a","failure":{"message":"x"}}')
    await run.put('{"tool_name":"b","output":{}}')
    const handles = async (query: string) =>
      (await run.list(query)).body.items.map(({ handle }) => handle)
    expect(await handles('?tool_name=a')).toEqual(['r1', 'r2'])
    expect(await handles('?outcome=failure&tool_name=a')).toEqual(['r2'])
    expect(await handles('?kind=text')).toEqual(['r1'])
    expect((await run.list('?kind=image')).body.code).toBe('invalid_request')
  })
})

describe('a path that is not there', () => {
  // Fault: every name of the object was read and kept, to offer twenty of them.
  it('in an object with 200,000 members is a 404 that offers the first twenty', async () => {
    const run = api.newRun()
    const members = Array.from({ length: 200_000 }, (_, n) => `"m${n}":${n}`).join(',')
    await run.put(`{"output":{${members}}}`)
    const { status, body } = await run.value('r1', '?path=none')
    expect([status, body.code]).toEqual([404, 'path_not_found'])
    expect(body.available).toEqual(Array.from({ length: 20 }, (_, n) => `m${n}`))
    expect((await run.value('r1', '?path=m199999')).text).toBe('199999')
  })
})
