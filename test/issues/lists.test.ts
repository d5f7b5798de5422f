// Lists whose items are large: a preview is as long as the names in its value.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('a page of results', () => {
  // Fault: a page of 1,000 results with such previews was gigabytes.
  it('ends before its previews are too much, its next goes on, and nothing is left out', async () => {
    const run = api.newRun()
    const LARGE = 1_500_000
    // the last of them is larger than a page by itself
    const sizes = [1, LARGE, LARGE, LARGE, 1, 5_000_000, 1, 1]
    for (const size of sizes) await run.put(`{"output":{"${'n'.repeat(size)}":1}}`)
    const pages: (readonly string[])[] = []
    let query: string | null = '?limit=100'
    while (query !== null) {
      const { body }: Awaited<ReturnType<typeof run.list>> = await run.list(query)
      pages.push(body.items.map(({ handle }) => handle))
      query = body.next === null ? null : `?limit=100&after=${body.next}`
    }
    expect(pages).toEqual([['r1', 'r2', 'r3'], ['r4', 'r5'], ['r6'], ['r7', 'r8']])
  })

  it('ends early for the results of one id too', async () => {
    const run = api.newRun()
    for (let n = 0; n < 4; n++) {
      await run.put(`{"tool_use_id":"x","output":{"${'n'.repeat(1_500_000)}":${n}}}`)
    }
    const first = (await run.list('?tool_use_id=x')).body
    expect([first.items.length, first.next]).toEqual([2, 'r2'])
    const rest = (await run.list(`?tool_use_id=x&after=${first.next}`)).body
    expect([rest.items.map(({ handle }) => handle), rest.next]).toEqual([['r3', 'r4'], null])
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
