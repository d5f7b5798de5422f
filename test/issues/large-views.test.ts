// Text views that are far larger than their values: they were once made in one piece, or in one piece for every token.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const LEVELS = 1_000
const TOWER = '['.repeat(LEVELS) + ']'.repeat(LEVELS)

/** Arrays a thousand levels deep: 2 KB each, and 2 MB as a text. */
const towers = (count: number): string => `[${Array(count).fill(TOWER).join(',')}]`
const indentedTowers = (count: number): Buffer =>
  Buffer.from(JSON.stringify(JSON.parse(towers(count)), null, 2))

describe('the window of a flat array', () => {
  // Fault: a buffer object for every token and every line end, some hundred bytes for each byte of the value.
  it('is made in one buffer: half a million elements within 32 MB of heap', async () => {
    const view = new URL('../../src/core/view/view.ts', import.meta.url).href
    const script = `
      import(${JSON.stringify(view)}).then(({ renderView }) => {
        const bytes = Buffer.from('[' + '1,'.repeat(499_999) + '1]')
        const source = { form: 'json', start: 0, end: bytes.length }
        const { length } = renderView({ bytes, firstByte: 0, state: 0 }, source)
        require('node:worker_threads').parentPort.postMessage(length)
      })`
    const worker = new Worker(script, {
      eval: true,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 8 },
    })
    const [length] = (await once(worker, 'message')) as [number]
    await worker.terminate()
    expect(length).toBe('[\n'.length + 500_000 * '  1,\n'.length - 1 + ']'.length)
  })

  it('is that of its text', async () => {
    const run = api.newRun()
    const ones = Array(2_000_000).fill(1)
    const json = await run.put(`{"output":${JSON.stringify(ones)},"render":"window"}`)
    const text = await run.putRaw(JSON.stringify(ones, null, 2), 'text/plain', '?render=window')
    expect([json.status, json.body.rendering]).toEqual([201, 'window'])
    const { content, omitted, rendering } = text.body
    expect(json.body).toMatchObject({
      rendering,
      omitted,
      content: content?.replaceAll('"id": "r2"', '"id": "r1"'),
    })
    expect(content).toContain('"id": "r2"')
  })
})

describe('a window of a view that is far larger than its value', () => {
  // Fault: up to 256 MiB of spaces were made to show some lines of them; then such a window was refused.
  it('is made of the two ends of the view alone', async () => {
    const run = api.newRun()
    const count = 200
    const before = process.resourceUsage().maxRSS
    const put = await run.put(`{"output":${towers(count)},"render":"window"}`)
    const grownBytes = (process.resourceUsage().maxRSS - before) * 1024
    const { headers } = await api.call('HEAD', `${run.path}/results/r1/value?as=text`)
    const viewBytes = Number(headers['content-length'])
    expect(viewBytes).toBeGreaterThan(400_000_000)
    expect(grownBytes).toBeLessThan(viewBytes / 4)
    const lines = count * (2 * LEVELS - 1) + 2
    const { content, rendering, omitted } = put.body
    expect(rendering).toBe('window')
    expect(content?.startsWith('[\n  [\n    [\n')).toBe(true)
    expect(content?.endsWith('\n    ]\n  ]\n]')).toBe(true)
    const shown = (content ?? '').split('\n').length - 1
    expect(omitted).toMatchObject({ end_line: lines - (shown - (omitted?.start_line ?? 0) + 1) })
    expect((await run.content('r1', '?render=window')).body).toMatchObject({ content, omitted })
  })
})

describe('the text of a slice', () => {
  const COUNT = 6
  const view = indentedTowers(COUNT)

  it('is whole, with its length, and any range of it', async () => {
    const run = api.newRun()
    await run.put(`{"output":{"a":${towers(COUNT)},"b":"after"}}`)
    const whole = await run.value('r1', '?as=text&path=a')
    expect(whole.headers['content-length']).toBe(String(view.length))
    expect(whole.bytes.equals(view)).toBe(true)
    for (const [start, end] of [
      [0, 1],
      [262_140, 262_150],
      [1_000_000, 3_000_000],
      [view.length - 7, view.length],
    ] as const) {
      const range = `bytes=${start}-${end - 1}`
      const part = await run.value('r1', '?as=text&path=a', { range })
      expect([part.status, part.headers['content-range']]).toEqual([
        206,
        `bytes ${start}-${end - 1}/${view.length}`,
      ])
      expect(part.bytes.equals(view.subarray(start, end))).toBe(true)
    }
    const past = await run.value('r1', '?as=text&path=a', { range: `bytes=${view.length}-` })
    expect(past.status).toBe(416)
  })

  // Fault: it was made before its first byte was sent; this one would take 2 GB.
  it('is made as far as it is read', async () => {
    const run = api.newRun()
    await run.put(`{"output":{"a":${towers(1_000)}}}`)
    const query = '?as=text&path=a'
    const before = process.resourceUsage().maxRSS
    const { headers } = await api.call('HEAD', `${run.path}/results/r1/value${query}`)
    // Each tower but for its line ends is as in the smaller one.
    const each = (view.length - indentedTowers(1).length) / (COUNT - 1)
    const total = view.length + each * (1_000 - COUNT)
    expect(headers['content-length']).toBe(String(total))
    const part = await run.value('r1', query, { range: 'bytes=500000-500999' })
    expect(part.headers['content-range']).toBe(`bytes 500000-500999/${total}`)
    expect(part.bytes.equals(view.subarray(500_000, 501_000))).toBe(true)
    expect((process.resourceUsage().maxRSS - before) * 1024).toBeLessThan(total / 4)
  })
})
