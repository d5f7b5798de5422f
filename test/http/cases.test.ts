// Lessons from faults that other tools had with results, one test each; what core tests cannot see because it takes the
// whole way through put, content and reading back.
import { afterAll, describe, expect, it } from 'vitest'
import { numberedLines, quoted, recallAll, startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

describe('what is shown', () => {
  it('is bounded and says how large the whole is, which every way back returns', async () => {
    const run = api.newRun()
    const text = `START\n${'alpha beta '.repeat(700)}\nEND`
    const { body } = await run.put(
      `{"render":"preview","tool_use_id":"c","output":${quoted(text)}}`,
    )
    expect(body.preview.length).toBeLessThan(1400)
    expect(body.preview).toContain('lines=3')
    expect((await run.resolve('{"arguments":{"t":"$r1"}}')).body.arguments).toEqual({ t: text })
    expect((await run.recall('{"id":"c","range":{"start":1,"end":3}}')).body.content).toBe(text)
  })

  it('keeps both ends: the verdict of a long log is its last line', async () => {
    const log = `collected 4000 items\n${numberedLines(4000, 'test ok')}1 failed, 3999 passed\n`
    const { body } = await api.newRun().putRaw(log, 'text/plain')
    expect(body.content?.startsWith('collected 4000 items\n')).toBe(true)
    expect(body.content?.endsWith('\n1 failed, 3999 passed')).toBe(true)
  })

  it('counts what is left of a long line in whole characters', async () => {
    const line = `${'a'.repeat(1999)}🦊${'b'.repeat(30_000)}`
    const { body } = await api.newRun().putRaw(line, 'text/plain')
    expect(body.content).toContain(`${'a'.repeat(1999)}🦊 [line continues for 30000 more chars]`)
    expect(body.total_chars).toBe(32_000)
  })

  it('lets the other lines around one huge line be whole', async () => {
    const text = `Out[3]:\n${'QUJD'.repeat(20_000)}\n<Figure size 640x480>\n`
    const { body } = await api.newRun().putRaw(text, 'text/plain')
    const lines = body.content?.split('\n') ?? []
    expect([lines[0], lines.at(-1)]).toEqual(['Out[3]:', '<Figure size 640x480>'])
  })

  it('never breaks a character at either end of a preview', async () => {
    const run = api.newRun()
    const text = `${'a'.repeat(399)}🦊${'b'.repeat(400)}🦊${'t'.repeat(199)}`
    const { preview } = (await run.put(`{"render":"preview","output":${quoted(text)}}`)).body
    expect(preview).toContain(`head="${'a'.repeat(399)}"`)
    expect(preview).toContain(`tail="${'t'.repeat(199)}"`)
    expect(preview).not.toContain('\ufffd')
  })

  it('escapes control characters in previews, and only there', async () => {
    const run = api.newRun()
    const text = '\u001b[31mred\u0007\u009b\u007f\b\0'
    const { body } = await run.put(`{"output":${quoted(text)}}`)
    for (const escaped of [
      String.raw`\u{1b}`,
      String.raw`\u{7}`,
      String.raw`\u{9b}`,
      String.raw`\u{7f}`,
      String.raw`\u{8}`,
      String.raw`\0`,
    ]) {
      expect(body.preview).toContain(escaped)
    }
    expect(body.content).toBe(text)
    expect((await run.recall('{"id":"r1"}')).body.content).toBe(text)
  })

  it('shows a blob by its size, and what stands beside it as it is', async () => {
    const output = { data: 'iVBORw0K'.repeat(150_000), mimeType: 'image/png' }
    const { preview } = (await api.newRun().put(JSON.stringify({ output }))).body
    expect(preview.length).toBeLessThan(400)
    expect(preview).toContain('data: text(len=1.1MB, lines=1)')
    expect(preview).toContain('mimeType: "image/png"')
  })

  it('names a few of many members', async () => {
    const output = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`key${i}`, 'v'.repeat(200)]),
    )
    const { body } = await api.newRun().put(JSON.stringify({ output }))
    expect(body.rendering).toBe('preview')
    expect(body.preview).toContain('keys=500')
    expect(body.preview.length).toBeLessThan(1024)
  })

  it('takes a table for the text that it is', async () => {
    const csv = `id,name\n${numberedLines(3000, '7,x')}`
    const run = api.newRun()
    const { body } = await run.putRaw(csv, 'text/csv', '?render=preview')
    expect(body.preview).toContain('lines=3001')
    expect(body.preview).toContain('head="id,name\\n')
    expect((await run.value('r1')).text).toBe(csv)
  })

  it('of empty values says that they are empty, not missing', async () => {
    const run = api.newRun()
    const previews = []
    for (const output of ['""', '[]', '{}', 'null']) {
      previews.push((await run.put(`{"output":${output}}`)).body.preview)
    }
    expect(previews).toEqual([
      'r1 = text(len=0B, lines=0) ""',
      'r2 = array(len=0, [])',
      'r3 = json(, bytes=2)',
      'r4 = null',
    ])
  })
})

describe('notes', () => {
  it('never get into a value, and are told apart by members', async () => {
    const run = api.newRun()
    const output = numberedLines(5000)
    const { body } = await run.putRaw(output, 'text/plain')
    expect(body.content).toContain(' omitted (')
    expect(body.omitted).not.toBeNull()
    expect((await run.value('r1')).text).not.toContain('omitted')
    expect((await run.value('r1', '?as=text')).text).not.toContain('omitted')
    const pages = await recallAll(run, 'r1')
    expect(pages.map(({ content }) => content).join('')).toBe(output)
  })

  it('leave canonical JSON a whole document', async () => {
    const run = api.newRun()
    const output = { text: 'quote " and \\ '.repeat(1500), rows: [{ detail: 'x'.repeat(5000) }] }
    const { body } = await run.put(JSON.stringify({ output }))
    expect(body.rendering).toBe('verbatim')
    expect(JSON.parse(body.content ?? '')).toEqual(output)
  })
})
