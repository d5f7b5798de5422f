// One document with everything that parsing and printing breaks. It is written as text, and only compared as text.
import { createHash } from 'node:crypto'
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const DEPTH_LEVELS = 1000
const DEEP = '['.repeat(DEPTH_LEVELS) + ']'.repeat(DEPTH_LEVELS)
const LS = '\u2028'

/** The members by name; `again` is there twice. */
const MEMBERS: readonly (readonly [token: string, value: string])[] = [
  ['"id"', '12345678901234567890'],
  ['"negative"', '-9223372036854775808'],
  ['"one"', '1.0'],
  ['"huge"', '1e400'],
  ['"tiny"', '-1E-400'],
  ['"zero"', '-0.0'],
  ['"10"', '"ten"'],
  ['"2"', '"two"'],
  ['"__proto__"', '{"polluted": true}'],
  ['"constructor"', '{"prototype": {"name": "F1"}}'],
  ['""', '[1, 2.50, {}]'],
  ['"again"', '1'],
  ['"nul"', String.raw`"a\u0000b"`],
  ['"escapes"', String.raw`"\u0041\/\n\u00e9\ud83e\udd8a"`],
  ['"separator"', `"a${LS}b"`],
  ['"lone"', String.raw`"x\ud800y"`],
  ['"again"', '2.0'],
  ['"deep"', DEEP],
]
const DOCUMENT = `{\n ${MEMBERS.map(([name, value]) => `${name} : ${value}`).join('\t,\r\n ')}  }`

/** What a path finds: of a repeated name the last. */
const BY_PATH: readonly (readonly [path: string, pointer: string, value: string])[] = [
  ...MEMBERS.filter(([name]) => name !== '"again"' && name !== '""').map(
    ([name, value]) => [name.slice(1, -1), `/${name.slice(1, -1)}`, value] as const,
  ),
  ['again', '/again', '2.0'],
  ['', '/', '[1, 2.50, {}]'],
  ['.1', '//1', '2.50'],
  ['constructor.prototype.name', '/constructor/prototype/name', '"F1"'],
]

describe('a JSON document', () => {
  it('comes back byte for byte, from an envelope and as a raw body', async () => {
    const run = api.newRun()
    const put = await run.put(`{"output":${DOCUMENT}}`)
    const raw = await run.putRaw(`\n\n${DOCUMENT} \t`, 'application/vnd.x+json')
    expect([put.status, raw.status]).toEqual([201, 201])
    expect((await run.value('r1')).text).toBe(DOCUMENT)
    expect((await run.value('r2')).text).toBe(`\n\n${DOCUMENT} \t`)
    expect(put.body.sha256).toBe(createHash('sha256').update(DOCUMENT).digest('hex'))
    expect(put.body.total_bytes).toBe(Buffer.byteLength(DOCUMENT))
    await api.restart()
    expect((await run.value('r1')).text).toBe(DOCUMENT)
  })

  it('is exact in resolved arguments, whole and by path', async () => {
    const run = api.newRun()
    await run.put(`{"output":${DOCUMENT}}`)
    const whole = await run.resolve('{"arguments": {"all" :"$r1", "n":1.0}}')
    expect(whole.text).toContain(`"arguments":{"all" :${DOCUMENT}, "n":1.0}`)
    for (const [path, pointer, value] of BY_PATH) {
      for (const reference of [`$r1.${path}`, `$r1#${pointer}`]) {
        const { text, body } = await run.resolve(`{"arguments":${JSON.stringify(reference)}}`)
        expect(text.slice(0, text.indexOf(',"resolved"'))).toBe(`{"arguments":${value}`)
        expect(body.unresolved).toEqual([])
      }
    }
  })

  it('is exact in slices of the raw read', async () => {
    const run = api.newRun()
    await run.put(`{"output":${DOCUMENT}}`)
    for (const [path, pointer, value] of BY_PATH) {
      // An empty path is the whole value; the empty name is what a pointer reaches.
      if (path !== '') {
        expect((await run.value('r1', `?path=${encodeURIComponent(path)}`)).text).toBe(value)
      }
      expect((await run.value('r1', `?pointer=${encodeURIComponent(pointer)}`)).text).toBe(value)
    }
    expect((await run.value('r1', '?path=')).text).toBe(DOCUMENT)
    expect((await run.value('r1', '?pointer=')).text).toBe(DOCUMENT)
  })

  it('keeps its tokens in previews, in the order of its members', async () => {
    const run = api.newRun()
    const { body } = await run.put(`{"render":"preview","output":${DOCUMENT}}`)
    const names = [
      'id: 12345678901234567890',
      'one: 1.0',
      'huge: 1e400',
      '10: "ten"',
      '2: "two"',
      '__proto__: json',
      'constructor: json',
      ': array(len=3)',
      'again: 2.0',
      'deep: array(len=1)',
    ]
    const places = names.map((name) => body.preview.indexOf(name))
    expect(places.every((place) => place > 0)).toBe(true)
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(body.preview.isWellFormed()).toBe(true)
    expect(body.preview).not.toContain('again: 1')
  })

  it('keeps its tokens in canonical text, names in the order of their bytes', async () => {
    const run = api.newRun()
    const { body } = await run.put(`{"output":${DOCUMENT}}`)
    expect(body.rendering).toBe('verbatim')
    const { content } = body
    expect(content?.isWellFormed()).toBe(true)
    expect(content).toMatch(/^\{"":\[1,2\.50,\{\}\],"10":"ten","2":"two","__proto__":/)
    for (const part of [
      '"again":2.0,',
      '"huge":1e400,',
      '"id":12345678901234567890,',
      '"one":1.0,',
      '"zero":-0.0}',
      `"separator":"a${LS}b"`,
      String.raw`"nul":"a\u0000b"`,
    ]) {
      expect(content).toContain(part)
    }
    const answer = await api.json<{ content: string; content_hash: string }>(
      'POST',
      '/v1/content-string',
      `{"value":${DOCUMENT}}`,
    )
    expect(answer.body.content).toBe(content)
  })

  it('keeps its tokens and its order in the text view', async () => {
    const run = api.newRun()
    await run.put(`{"output":${DOCUMENT.replace(DEEP, '[[]]')}}`)
    const view = (await run.value('r1', '?as=text')).text
    expect(view.split('\n').slice(0, 9)).toEqual([
      '{',
      '  "id": 12345678901234567890,',
      '  "negative": -9223372036854775808,',
      '  "one": 1.0,',
      '  "huge": 1e400,',
      '  "tiny": -1E-400,',
      '  "zero": -0.0,',
      '  "10": "ten",',
      '  "2": "two",',
    ])
    expect(view.match(/"again": /g)).toHaveLength(2)
    expect((await run.recall('{"id":"r1"}')).body.content).toBe(view)
  })

  it('pollutes nothing', async () => {
    const run = api.newRun()
    await run.put(`{"output":${DOCUMENT}}`)
    await run.resolve(`{"arguments":${DOCUMENT},"input_schema":{"type":"object"}}`)
    expect('polluted' in {}).toBe(false)
    const { body } = await run.resolve(
      '{"arguments":["$r1.deep.toString","$r1.id.constructor","$r1.2.length"]}',
    )
    expect(body.resolved).toEqual([])
    expect(body.unresolved.map(({ reason }) => reason)).toEqual(Array(3).fill('path_not_found'))
  })

  it('that holds no reference passes through resolve as it is', async () => {
    const run = api.newRun()
    const { text, body } = await run.resolve(`{"arguments":${DOCUMENT},"input_schema":{}}`)
    expect(text.startsWith(`{"arguments":${DOCUMENT},`)).toBe(true)
    expect(body.valid).toBe(true)
  })
})

describe('a text in an envelope', () => {
  const TOKEN = `${String.raw`"\u0041\ud83d\u0000\/é`}${LS}🦊"`

  it('keeps its token; its view shows what it means, a lone surrogate as U+FFFD', async () => {
    const run = api.newRun()
    const put = await run.put(`{"output": ${TOKEN} }`)
    const view = `A\ufffd\0/é${LS}🦊`
    expect(put.body).toMatchObject({ kind: 'text', content: view, total_chars: 7, total_lines: 1 })
    const value = await run.value('r1')
    expect(value.text).toBe(TOKEN)
    expect(value.headers['content-type']).toMatch(/^application\/json/)
    expect((await run.value('r1', '?as=text')).text).toBe(view)
    expect((await run.recall('{"id":"r1"}')).body.content).toBe(view)
    expect((await run.resolve('{"arguments":["$r1"]}')).text).toContain(`"arguments":[${TOKEN}]`)
  })
})

describe('a failure or a suspension', () => {
  it('keeps its message, decoded and encoded again', async () => {
    const run = api.newRun()
    const message = `${String.raw`"a\u0000\ud800\u0041 é `}${LS}🦊"`
    const put = await run.put(`{"failure": {"message": ${message}}}`)
    expect(put.body.content).toBe(`a\0\ufffdA é ${LS}🦊`)
    const output = (await run.value('r1')).text
    const decoded = await api.json<{ failure: { message: string } }>(
      'POST',
      '/v1/sentinels/decode',
      `{"output":${output}}`,
    )
    expect(decoded.body.failure.message).toBe(JSON.parse(message))
  })

  it('keeps the schema that it waits for, token for token', async () => {
    const run = api.newRun()
    const schema = DOCUMENT.replace(DEEP, '[]')
    await run.put(`{"suspension": {"reason": "r", "input_schema": ${schema}}}`)
    expect((await run.value('r1')).text).toContain(schema)
    const output = (await run.value('r1')).text
    const decoded = await api.json('POST', '/v1/sentinels/decode', `{"output":${output}}`)
    expect(decoded.text).toContain(`"input_schema":${schema}}`)
  })
})
