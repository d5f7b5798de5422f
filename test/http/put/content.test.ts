import { afterAll, describe, expect, it } from 'vitest'
import type { PutAnswer } from '../../../src/runs/answer.ts'
import { numberedLines, quoted, startApi } from '../../support/api.ts'

const LIMIT = 30_000

const api = await startApi()
afterAll(() => api.close())

/** A JSON object whose canonical text has exactly `chars` characters. */
const objectOf = (chars: number): string => `{"k":"${'x'.repeat(chars - 8)}"}`

describe('the content of an output by render=auto', () => {
  it('is the text itself up to the limit, and its window beyond', async () => {
    const run = api.newRun()
    const fits = await run.putRaw('x'.repeat(LIMIT), 'text/plain')
    expect(fits.body).toMatchObject({ rendering: 'verbatim', omitted: null })
    expect(fits.body.content).toBe('x'.repeat(LIMIT))
    const beyond = await run.putRaw('x'.repeat(LIMIT + 1), 'text/plain')
    expect(beyond.body).toMatchObject({ rendering: 'window', total_chars: LIMIT + 1 })
  })

  it('counts code points, not UTF-16 units or bytes', async () => {
    const run = api.newRun()
    expect((await run.putRaw('🦊'.repeat(LIMIT), 'text/plain')).body.rendering).toBe('verbatim')
    expect((await run.putRaw('漢'.repeat(LIMIT), 'text/plain')).body.rendering).toBe('verbatim')
    expect((await run.putRaw('🦊'.repeat(LIMIT + 1), 'text/plain')).body.rendering).toBe('window')
  })

  it('is the canonical text of a JSON value up to the limit, and its preview beyond', async () => {
    const run = api.newRun()
    const fits = await run.put(`{"output": ${objectOf(LIMIT)}}`)
    expect(fits.body).toMatchObject({ rendering: 'verbatim', content: objectOf(LIMIT) })
    const { body } = await run.put(`{"output": ${objectOf(LIMIT + 1)}}`)
    expect(body.rendering).toBe('preview')
    expect(body.content).toBe(body.preview + body.hint)
    expect(body.preview).toMatch(/^r2 = json\(/)
    expect(body.hint).toContain('"$r2"')
  })

  it('is canonical: names sorted by bytes, tokens as written', async () => {
    const put = await api.newRun().put('{"output": {"b": 1.0, "a": [1e3, -0], "10": 2, "9": "é"} }')
    expect(put.body.content).toBe('{"10":2,"9":"é","a":[1e3,-0],"b":1.0}')
  })

  it('follows the limit of the run', async () => {
    const run = api.newRun()
    await run.open('{"verbatim_limit_chars": 2000}')
    expect((await run.putRaw('x'.repeat(2000), 'text/plain')).body.rendering).toBe('verbatim')
    expect((await run.putRaw('x'.repeat(2001), 'text/plain')).body.rendering).toBe('window')
    const lines = await run.putRaw(numberedLines(1000), 'text/plain')
    expect([...(lines.body.content ?? '')].length).toBeLessThan(2200)
  })

  it('names the recall of the lines left out, and says in members which they are', async () => {
    const run = api.newRun()
    const text = numberedLines(4000)
    const { body } = await run.putRaw(text, 'text/plain', '?tool_use_id=log%201')
    const { start_line: start, end_line: end, chars } = body.omitted ?? { start_line: 0 }
    const note = `[lines ${start}–${end} omitted (${chars} chars); recall {"id": "log 1", "range": {"start": ${start}, "end": ${end}}} returns them]`
    const shown = (body.content ?? '').split('\n')
    expect(shown).toContain(note)
    expect(shown[0]).toBe('line 1')
    expect(shown.at(-1)).toBe('line 4000')
    expect((await run.value('r1')).text).toBe(text)
  })

  it('is never cut again: a window may be a little longer than the limit, and its note is whole', async () => {
    const run = api.newRun()
    const { body } = await run.putRaw(`${'v'.repeat(1000)}\n`.repeat(40), 'text/plain')
    expect(body.content).toMatch(/\[lines? .* returns (?:them)\]/)
  })

  it('previews a binary, and its hint names the raw read', async () => {
    const run = api.newRun()
    const { body } = await run.putRaw(Buffer.from([0x89, 0x50, 0]), 'image/png')
    expect(body).toMatchObject({
      kind: 'binary',
      rendering: 'preview',
      total_bytes: 3,
      total_chars: null,
      total_lines: null,
    })
    expect(body.preview).toMatch(/^r1 = binary\(type=image\/png, len=3B, sha256=/)
    expect(body.hint).toContain('results/r1/value')
    expect(body.content).toBe(body.preview + body.hint)
  })

  it('gives nothing for a suspension', async () => {
    const put = await api
      .newRun()
      .put('{"suspension": {"reason": "approve?", "input_schema": {"type": "boolean"}}}')
    expect(put.body).toMatchObject({
      outcome: 'suspension',
      content: null,
      rendering: 'none',
      omitted: null,
      total_chars: 8,
      total_lines: 1,
    })
  })

  it('takes an output that only looks like a sentinel as an output', async () => {
    const run = api.newRun()
    await run.put('{"failure": {"message": "m"}}')
    const sentinel = (await run.value('r1')).text
    const put = await run.put(`{"output": ${sentinel}}`)
    expect(put.body).toMatchObject({ outcome: 'output', kind: 'json' })
    expect((await run.resolve('{"arguments": "$r2"}')).body.resolved).toEqual(['r2'])
  })
})

describe('another render', () => {
  const text = numberedLines(3)

  it.each([
    ['verbatim', 'verbatim', text],
    ['window', 'verbatim', text],
    ['preview', 'preview', /^r1 = text\(len=21B, lines=3\)/],
  ])('%s of a short text is %s', async (render, rendering, content) => {
    const run = api.newRun()
    const { body } = await run.putRaw(text, 'text/plain', `?render=${render}`)
    expect(body.rendering).toBe(rendering)
    if (typeof content === 'string') expect(body.content).toBe(content)
    else expect(body.content).toMatch(content)
  })

  it('window of a JSON value is of its indented text', async () => {
    const run = api.newRun()
    const { body } = await run.put('{"render": "window", "output": {"b":1,"a":[2]}}')
    expect(body.content).toBe('{\n  "b": 1,\n  "a": [\n    2\n  ]\n}')
    expect(body.total_lines).toBe(6)
    const long = await run.put(
      `{"render": "window", "output": [${'{"n":1},'.repeat(4000)}{"n":2}]}`,
    )
    expect(long.body.rendering).toBe('window')
    expect(long.body.omitted).not.toBeNull()
  })

  it('verbatim of a JSON value beyond the limit is its canonical text, whole', async () => {
    const run = api.newRun()
    const { body } = await run.put(`{"render": "verbatim", "output": ${objectOf(LIMIT + 5)}}`)
    expect([body.rendering, body.content]).toEqual(['verbatim', objectOf(LIMIT + 5)])
  })

  it('verbatim takes a million characters and not one more; then nothing is kept', async () => {
    const run = api.newRun()
    const most = 1_000_000
    const fits = await run.putRaw('x'.repeat(most), 'text/plain', '?render=verbatim')
    expect([fits.status, fits.body.content?.length]).toEqual([201, most])
    for (const put of [
      await run.putRaw('x'.repeat(most + 1), 'text/plain', '?render=verbatim'),
      await run.put(`{"render": "verbatim", "output": "${'x'.repeat(most + 1)}"}`),
      await run.put(`{"render": "verbatim", "output": ${objectOf(most + 1)}}`),
      await run.put(`{"render": "verbatim", "failure": {"message": "${'x'.repeat(most + 1)}"}}`),
    ]) {
      expect(put.status).toBe(422)
      expect(put.body).toMatchObject({
        code: 'over_limit',
        limit: 'verbatim_max_chars',
        value: most,
      })
    }
    expect((await run.read()).body.results).toBe(1)
    expect((await run.put('{"output": 1}')).body.handle).toBe('r2')
  })

  it('makes no difference to a suspension or a binary', async () => {
    const run = api.newRun()
    for (const render of ['verbatim', 'window', 'preview']) {
      const suspension = await run.put(
        `{"render": "${render}", "suspension": {"reason": "${render}", "input_schema": 1}}`,
      )
      expect(suspension.body).toMatchObject({ rendering: 'none', content: null })
      const binary = await run.putRaw(render, 'application/pdf', `?render=${render}`)
      expect(binary.body.rendering).toBe('preview')
    }
  })

  it('shows a failure whole, or its preview with a hint to recall', async () => {
    const run = api.newRun()
    const message = 'e'.repeat(600)
    const ask = (render: string, id: string): string =>
      `{"tool_use_id": "${id}", "render": "${render}", "failure": {"message": "${message}"}}`
    expect((await run.put(ask('verbatim', 'a'))).body).toMatchObject({
      rendering: 'verbatim',
      content: message,
    })
    expect((await run.put(ask('window', 'b'))).body).toMatchObject({
      rendering: 'verbatim',
      content: message,
    })
    const { body } = await run.put(ask('preview', 'c'))
    expect(body.preview).toMatch(/^r3 = text\(len=600B, lines=1\)/)
    expect(body.content).toBe(`${body.preview}\n[recall {"id": "c"} returns it whole]`)
  })
})

describe('the content again', () => {
  const puts = [
    `{"tool_use_id": "text", "output": ${quoted(numberedLines(5000, 'é🦊'))}}`,
    `{"tool_use_id": "cut", "output": ${quoted(`${'w'.repeat(9000)}\n`.repeat(5))}}`,
    `{"tool_use_id": "json", "output": [${'{"n":1.0},'.repeat(4000)}1e400]}`,
    '{"tool_use_id": "small", "output": {"b": 1, "a": 2}}',
    `{"tool_use_id": "f1", "tool_name": "t", "failure": {"message": "${'m'.repeat(700)}"}}`,
    `{"tool_use_id": "f2", "tool_name": "t", "failure": {"message": "${'m'.repeat(700)}"}}`,
    '{"tool_use_id": "s", "suspension": {"reason": "r", "input_schema": {}}}',
    String.raw`{"tool_use_id": "lone", "output": "a\ud800b"}`,
  ]

  it('has the same bytes as at the put, also after a restart and with another limit since', async () => {
    const run = api.newRun()
    const answers: PutAnswer[] = []
    for (const envelope of puts) answers.push((await run.put(envelope)).body)
    await run.open('{"verbatim_limit_chars": 5000}')
    const check = async (): Promise<void> => {
      for (const { handle, content, rendering, omitted, preview, hint } of answers) {
        const again = await run.content(handle)
        expect(again.status).toBe(200)
        expect(again.body).toEqual({ content, rendering, omitted, preview, hint })
      }
    }
    await check()
    await api.restart()
    await check()
  })

  it.each(['verbatim', 'preview', 'window'])(
    'can be had by render=%s, as a put by it gives',
    async (render) => {
      const [run, other] = [api.newRun(), api.newRun()]
      for (const envelope of puts) {
        const { handle } = (await run.put(envelope)).body
        const asked = await other.put(envelope.replace('{', `{"render": "${render}", `))
        const { content, rendering, omitted, preview, hint } = asked.body
        const again = await run.content(handle, `?render=${render}`)
        expect(again.body).toEqual({ content, rendering, omitted, preview, hint })
      }
    },
  )

  it('is of a result that is there, in a rendering that there is', async () => {
    const run = api.newRun()
    await run.put('{"output": 1}')
    expect((await run.content('r2')).status).toBe(404)
    expect((await run.content('$r1')).status).toBe(404)
    expect((await run.content('r01')).status).toBe(404)
    expect((await run.content('r1', '?render=whole')).body.code).toBe('invalid_request')
  })
})
