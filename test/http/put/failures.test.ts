import { afterAll, describe, expect, it } from 'vitest'
import { type RunCalls, startApi } from '../../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const MESSAGE = 'cannot open the file'

async function fail(run: RunCalls, id: string, changes: Record<string, unknown> = {}) {
  const { message = MESSAGE, tool = 'read' } = changes
  const put = await run.put(
    JSON.stringify({ tool_use_id: id, tool_name: tool, failure: { message } }),
  )
  expect(put.status).toBe(201)
  return put.body
}

const repeated = (times: number, id: string, tool = 'read'): string =>
  `tool \`${tool}\` has failed ${times} consecutive times with the same error; the full error is recorded in the run log\n[recall {"id": "${id}"} returns the whole error]`

describe('a failure', () => {
  it('of up to 512 characters is shown as it is', async () => {
    const run = api.newRun()
    const message = '🦊'.repeat(512)
    const body = await fail(run, 'a', { message })
    expect(body).toMatchObject({ outcome: 'failure', rendering: 'verbatim', content: message })
    expect(body).toMatchObject({ total_chars: 512, total_lines: 1 })
  })

  it('that is longer keeps both ends, and a line of its own names the recall of the whole', async () => {
    const run = api.newRun()
    const message = `${'a'.repeat(400)}${'b'.repeat(113)}`
    const { content, rendering } = await fail(run, 'call "1"', { message })
    expect(rendering).toBe('compacted')
    expect(content).toBe(
      `${'a'.repeat(320)} [... 65 chars elided ...] ${'a'.repeat(15)}${'b'.repeat(113)}\n[recall {"id": "call \\"1\\""} returns the whole error]`,
    )
    expect((await run.recall('{"id": "call \\"1\\""}')).body.content).toBe(message)
  })

  it('joins its causes with ": "', async () => {
    const run = api.newRun()
    const put = await run.put(
      '{"failure": {"messages": ["load failed", "fetch failed", "refused"]}}',
    )
    expect(put.body.content).toBe('load failed: fetch failed: refused')
  })

  it('is kept as its sentinel, which decodes to what was put', async () => {
    const run = api.newRun()
    await run.put(
      '{"failure": {"kind": "output_serialization", "message": "m\\u0000", "attempts": 3}}',
    )
    await run.put('{"failure": {"message": "plain"}}')
    const decoded = []
    for (const handle of ['r1', 'r2']) {
      const output = (await run.value(handle)).text
      const answer = await api.json<{ kind: string; failure: unknown }>(
        'POST',
        '/v1/sentinels/decode',
        `{"output": ${output}}`,
      )
      decoded.push([answer.body.kind, answer.body.failure])
    }
    expect(decoded).toEqual([
      ['failure', { kind: 'output_serialization', message: 'm\u0000', attempts: 3 }],
      ['failure', { kind: 'handler', message: 'plain', attempts: 1 }],
    ])
  })
})

describe('a failure that repeats', () => {
  it('says how often, and its whole stays within reach', async () => {
    const run = api.newRun()
    expect((await fail(run, 'a')).content).toBe(MESSAGE)
    const second = await fail(run, 'b')
    expect(second).toMatchObject({ rendering: 'compacted', content: repeated(2, 'b') })
    expect((await fail(run, 'c')).content).toBe(repeated(3, 'c'))
    expect((await run.recall('{"id": "c"}')).body.content).toBe(MESSAGE)
  })

  it('starts again after an output', async () => {
    const run = api.newRun()
    await fail(run, 'a')
    await run.put('{"output": 1}')
    expect((await fail(run, 'b')).content).toBe(MESSAGE)
  })

  it('goes on over a suspension', async () => {
    const run = api.newRun()
    await fail(run, 'a')
    await run.put('{"suspension": {"reason": "r", "input_schema": {}}}')
    expect((await fail(run, 'b')).content).toBe(repeated(2, 'b'))
  })

  it('is of one tool and one whole message', async () => {
    const run = api.newRun()
    await fail(run, 'a')
    expect((await fail(run, 'b', { tool: 'write' })).content).toBe(MESSAGE)
    expect((await fail(run, 'c', { message: `${MESSAGE} ` })).content).toBe(`${MESSAGE} `)
    expect((await fail(run, 'd')).content).toBe(MESSAGE)
  })

  it('differs in the middle of long messages too, though these are not shown', async () => {
    const run = api.newRun()
    const [one, two] = ['1', '2'].map((n) => 'x'.repeat(400) + n + 'x'.repeat(400))
    await fail(run, 'a', { message: one })
    expect((await fail(run, 'b', { message: two })).content).not.toContain('consecutive')
    expect((await fail(run, 'c', { message: two })).content).toBe(repeated(2, 'c'))
  })

  it('does not count a retry of a put', async () => {
    const run = api.newRun()
    const envelope = '{"tool_use_id": "a", "tool_name": "read", "failure": {"message": "m"}}'
    const first = await run.put(envelope)
    const again = await run.put(envelope)
    expect([again.status, again.text]).toEqual([200, first.text])
    expect((await fail(run, 'b', { message: 'm' })).content).toBe(repeated(2, 'b'))
  })

  it('of a nameless tool is of "tool"', async () => {
    const run = api.newRun()
    await run.put('{"failure": {"message": "m"}}')
    const second = await run.put('{"failure": {"message": "m"}}')
    expect(second.body.content).toBe(repeated(2, 'r2', 'tool'))
  })

  it('goes on after a restart', async () => {
    const run = api.newRun()
    await fail(run, 'a')
    await api.restart()
    expect((await fail(run, 'b')).content).toBe(repeated(2, 'b'))
  })

  it('is counted in its own run', async () => {
    const [run, other] = [api.newRun(), api.newRun()]
    await fail(run, 'a')
    expect((await fail(other, 'a')).content).toBe(MESSAGE)
  })
})
