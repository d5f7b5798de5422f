// That nothing is out of reach: by following `next`, and by the calls that notes name.
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import type { RecallAnswer } from '../../src/runs/recall.ts'
import { numberedLines, quoted, type RunCalls, recallAll, startApi } from '../support/api.ts'
import { member, text as textIn, vectors } from '../vectors.ts'

const LIMIT = 2000
const SEED = 20_261_129
const SLOW_MS = 60_000

const api = await startApi({ COATCHECK_VERBATIM_LIMIT_CHARS: String(LIMIT) })
const wide = await startApi()
afterAll(async () => {
  await api.close()
  await wide.close()
})

/** Checks each page, and gives them joined. */
function read(pages: readonly RecallAnswer[], limit = LIMIT): string {
  let at = 0
  for (const [i, page] of pages.entries()) {
    expect(page.chars.start).toBe(at)
    at += [...page.content].length
    expect(page.chars.end).toBe(at)
    expect([...page.text].length).toBeLessThanOrEqual(limit)
    const last = i === pages.length - 1
    expect([page.truncated, page.next !== null]).toEqual([!last, !last])
    if (last) expect(page.text).toBe(page.content)
    else expect(page.text).toMatch(/^\[lines \d+–\d+ of \d+; recall \{.*\}\} continues\]$/m)
  }
  expect(at).toBe(pages[0]?.total_chars)
  return pages.map(({ content }) => content).join('')
}

const pieces = fc.oneof(
  fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\u2028', '\0', '\ufeff', '🦊', 'é', ' '),
  fc.string({ minLength: 1, maxLength: 40 }),
  fc.integer({ min: 1, max: 3000 }).map((n) => 'x'.repeat(n)),
  fc.integer({ min: 1, max: 1200 }).map((n) => '🦊'.repeat(n)),
  fc.integer({ min: 1, max: 60 }).map((n) => numberedLines(n, 'líne')),
  fc.integer({ min: 1, max: 60 }).map((n) => 'a\r\n'.repeat(n)),
)
const texts = fc
  .array(pieces, { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join('').toWellFormed())

describe('following next from the id alone', () => {
  it('gives back 500 texts of every kind, no page over the limit', {
    timeout: SLOW_MS,
  }, async () => {
    const run = api.newRun()
    const samples = fc.sample(texts, { numRuns: 500, seed: SEED })
    for (const [i, text] of samples.entries()) {
      const id = `t${i}`
      const query = `?tool_use_id=${id}`
      const put =
        i % 2 === 0
          ? await run.putRaw(text, 'text/plain', query)
          : await run.put(`{"tool_use_id":"${id}","output":${quoted(text)}}`)
      expect(put.status).toBe(201)
      expect(read(await recallAll(run, id))).toBe(text)
    }
  })

  it('gives back big JSON, long failures and long suspensions', async () => {
    const run = api.newRun()
    const value = Array.from({ length: 3000 }, (_, i) => ({
      id: i,
      name: `näme ${i}`,
      tags: ['a', []],
    }))
    await run.put(`{"output":${JSON.stringify(value)}}`)
    const message = `${numberedLines(300, 'error')}${'🦊'.repeat(5000)}`
    await run.put(`{"failure":{"message":${quoted(message)}}}`)
    await run.put(
      `{"suspension":{"reason":${quoted(message)},"input_schema":${JSON.stringify(value)}}}`,
    )
    expect(read(await recallAll(run, 'r1'))).toBe(JSON.stringify(value, null, 2))
    expect(read(await recallAll(run, 'r2'))).toBe(message)
    expect(read(await recallAll(run, 'r3'))).toBe(message)
  })

  it('from a range gives that range and no more', async () => {
    const run = api.newRun()
    const text = numberedLines(5000, 'wörd')
    await run.putRaw(text, 'text/plain')
    const lines = text.split(/(?<=\n)/)
    for (const [start, end] of [
      [1, 5000],
      [700, 1900],
      [4999, 5000],
    ] as const) {
      let call: string | null = `{"id":"r1","range":{"start":${start},"end":${end}}}`
      let got = ''
      while (call !== null) {
        const page: RecallAnswer = (await run.recall(call)).body
        got += page.content
        call = page.next && JSON.stringify(page.next)
      }
      expect(got).toBe(lines.slice(start - 1, end).join(''))
    }
  })

  it('of one huge line goes on by chars to the end of what was asked for', async () => {
    const run = api.newRun()
    const text = `first\n${'🦊'.repeat(5000)}\nlast\n`
    await run.putRaw(text, 'text/plain')
    const { body } = await run.recall('{"id":"r1","range":{"start":2,"end":2}}')
    expect(body.next).toEqual({ id: 'r1', chars: { start: body.chars.end, end: 5007 } })
    expect(read(await recallAll(run, 'r1'))).toBe(text)
  })
})

/** Every call that a content names. */
const callsIn = (content: string): readonly string[] =>
  [...content.matchAll(/recall (\{"id": .*?\}\})/g)].map(([, call]) => call as string)

async function followed(run: RunCalls, call: string): Promise<string> {
  let next: string | null = call
  let got = ''
  while (next !== null) {
    const { status, body, text }: Awaited<ReturnType<RunCalls['recall']>> = await run.recall(next)
    if (status !== 200) throw new Error(`${next}: ${text}`)
    got += body.content
    next = body.next && JSON.stringify(body.next)
  }
  return got
}

describe('the calls that a window names', () => {
  it('return the lines left out: head, recalled and tail are the whole', async () => {
    const run = api.newRun()
    const text = numberedLines(3000, 'zeile ü')
    const { body } = await run.putRaw(text, 'text/plain')
    const [call] = callsIn(body.content ?? '')
    const shown = (body.content ?? '').split('\n')
    const note = shown.findIndex((line) => line.startsWith('[lines '))
    const lines = [
      ...shown.slice(0, note),
      ...(await followed(run, call ?? '')).split('\n').slice(0, -1),
      ...shown.slice(note + 1),
    ]
    expect(`${lines.join('\n')}\n`).toBe(text)
  })

  it('return what was cut off a line', async () => {
    const run = api.newRun()
    await run.open('{"verbatim_limit_chars":10000}')
    const long = Array.from({ length: 12_000 }, (_, i) =>
      String.fromCodePoint(0x4e00 + (i % 500)),
    ).join('')
    const { body } = await run.putRaw(`head\n${long}\ntail\n`, 'text/plain')
    const content = body.content ?? ''
    const [call] = callsIn(content)
    const shown = /^(.*) \[line continues for (\d+) more chars\]$/m.exec(content)
    expect(shown?.[1]).toBe(long.slice(0, 2000))
    expect(shown?.[2]).toBe('10000')
    expect(await followed(run, call ?? '')).toBe(long.slice(2000))
  })

  it('are kept whole by ids that need escaping', async () => {
    const run = api.newRun()
    const text = numberedLines(2000)
    const { body } = await run.put(`{"tool_use_id":"a\\"}} {\\n","output":${quoted(text)}}`)
    const note = /recall (\{.*\}\}) returns them/.exec(body.content ?? '')?.[1] ?? ''
    expect(text).toContain(await followed(run, note))
  })
})

describe('the vectors of windows and bounded texts', () => {
  it.each(['window', 'bounded'])(
    '%s: every text is recovered whole by its id',
    { timeout: SLOW_MS },
    async (family) => {
      const run = wide.newRun()
      let count = 0
      for (const vector of vectors(family)) {
        const content = textIn(member(vector.input, 'content')).toWellFormed()
        const put = await run.putRaw(content, 'text/plain', '?render=preview')
        expect(put.status).toBe(201)
        expect(read(await recallAll(run, put.body.handle), 30_000)).toBe(content)
        count++
      }
      expect(count).toBeGreaterThan(5)
    },
  )
})
