import { afterAll, describe, expect, it } from 'vitest'
import { type RunCalls, startApi } from '../support/api.ts'

const api = await startApi({ COATCHECK_MAX_RESOLVED_BYTES: '4096' })
afterAll(() => api.close())

/** r1: a JSON value; r2: a text; r3: a raw text; r4: a failure; r5: a suspension; r6: a binary. */
async function filledRun(): Promise<RunCalls> {
  const run = api.newRun()
  await run.put(
    '{"output": {"rows": [{"id": 1.0}, {"id": 2}], "a.b": {"x/y": "deep"}, "": {"": 3}, "ref": "$r2", "n": null}}',
  )
  await run.put(String.raw`{"output": "text \u0041"}`)
  await run.putRaw('raw "text"\n', 'text/plain')
  await run.put('{"failure": {"message": "m"}}')
  await run.put('{"suspension": {"reason": "r", "input_schema": {}}}')
  await run.putRaw('bytes', 'image/png')
  return run
}

const run = await filledRun()

/** The resolved arguments as bytes, and the rest. */
async function resolve(args: string, more = '') {
  const { status, text, body } = await run.resolve(`{"arguments":${args}${more}}`)
  expect(status).toBe(200)
  return { args: text.slice('{"arguments":'.length, text.indexOf(',"resolved":')), body }
}

describe('a reference', () => {
  it.each([
    ['"$r1.rows.0"', '{"id": 1.0}'],
    ['"$r1#/rows/0"', '{"id": 1.0}'],
    ['"$r1.rows.00"', '{"id": 1.0}'],
    ['"$r1.rows.+1.id"', '2'],
    ['"$r1#/a.b/x~1y"', '"deep"'],
    ['"$r1."', '{"": 3}'],
    ['"$r1.."', '3'],
    ['"$r1#/"', '{"": 3}'],
    ['"$r1.n"', 'null'],
    ['"$r2"', String.raw`"text \u0041"`],
    ['"$r3"', String.raw`"raw \"text\"\n"`],
    [String.raw`"\u0024r1.n"`, 'null'],
    ['["$r2" , {"k":"$r1.n"}]', String.raw`["text \u0041" , {"k":null}]`],
  ])('%s stands for what it names', async (args, expected) => {
    const { args: got, body } = await resolve(args)
    expect(got).toBe(expected)
    expect(body.unresolved).toEqual([])
    expect(body.valid).toBeNull()
  })

  it('as a whole, with nothing after it or with an empty pointer, is the whole value', async () => {
    const value = (await run.value('r1')).text
    for (const reference of ['$r1', '$r1#']) {
      const { args, body } = await resolve(`"${reference}"`)
      expect(args).toBe(value)
      expect(body.resolved).toEqual([reference.slice(1)])
    }
  })

  it('is listed without its $, in document order, as often as it is used', async () => {
    const { body } = await resolve('{"z":"$r2","a":["$r1.n","$r2"],"m":"$r1#/n"}')
    expect(body.resolved).toEqual(['r2', 'r1.n', 'r2', 'r1#/n'])
  })

  it.each([
    '"$HOME"',
    '"$5.00"',
    '"$r"',
    '"$rx"',
    '"$r1x"',
    '"$R1"',
    '" $r1"',
    '"$r1 "',
    '"see $r1"',
    '"$$r1"',
    '"r1"',
    '"$r1/rows"',
    '"$-r1"',
    '"$ r1"',
    '""',
    '"$"',
  ])('is not %s, which is listed nowhere', async (args) => {
    const { args: got, body } = await resolve(args)
    expect(got).toBe(args)
    expect([body.resolved, body.unresolved]).toEqual([[], []])
  })

  it('is no key, and is never looked for in what is put in', async () => {
    const { args, body } = await resolve('{"$r2":1,"x":"$r1.ref"}')
    expect(args).toBe('{"$r2":1,"x":"$r2"}')
    expect(body.resolved).toEqual(['r1.ref'])
    expect(body.unresolved).toEqual([])
  })

  it('is found however deep, the rest stays byte for byte', async () => {
    const { args } = await resolve(
      '{ "a" : [ 1.0 , {"b":[["$r1.n"]]} ] , "__proto__":"$r1.n" , "10":1e400,"2":"\\u0041" }',
    )
    expect(args).toBe(
      '{ "a" : [ 1.0 , {"b":[[null]]} ] , "__proto__":null , "10":1e400,"2":"\\u0041" }',
    )
  })
})

describe('a reference that stands for nothing', () => {
  it.each([
    ['$r9', 'unknown_handle', ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']],
    ['$r0', 'unknown_handle', ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']],
    ['$r01', 'unknown_handle', ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']],
    ['$r99999999999999999999', 'unknown_handle', ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']],
    ['$r1.nope', 'path_not_found', ['rows', 'a.b', '', 'ref', 'n']],
    ['$r1.rows.2', 'path_not_found', null],
    ['$r1.rows.-1', 'path_not_found', null],
    ['$r1#/rows/01', 'path_not_found', null],
    ['$r1.rows.1e0', 'path_not_found', null],
    ['$r1.rows.length', 'path_not_found', null],
    ['$r1.__proto__', 'path_not_found', null],
    ['$r1.constructor.name', 'path_not_found', null],
    ['$r1#rows', 'path_not_found', null],
    ['$r2.length', 'path_not_found', null],
    ['$r4', 'failure', []],
    ['$r4.message', 'failure', []],
    ['$r5', 'suspension', []],
    ['$r6', 'binary', []],
    ['$r6.0', 'binary', []],
  ])(
    '%s stays literal, with the reason %s and what there is',
    async (reference, reason, available) => {
      const { args, body } = await resolve(`{"x":"${reference}"}`)
      expect(args).toBe(`{"x":"${reference}"}`)
      expect(body.resolved).toEqual([])
      expect(body.unresolved).toHaveLength(1)
      expect(body.unresolved[0]).toMatchObject({ reference, at: '/x', reason })
      if (available !== null) expect(body.unresolved[0]?.available).toEqual(available)
      expect([body.valid, body.failure]).toEqual([null, null])
    },
  )

  it('says where it stands, as a JSON Pointer', async () => {
    const { body } = await resolve('["$r9",{"a/b":{"~":["x","$r8"]}},{"":"$r7"}]')
    expect(body.unresolved.map(({ at }) => at)).toEqual(['/0', '/1/a~1b/~0/1', '/2/'])
    expect((await resolve('"$r9"')).body.unresolved[0]?.at).toBe('')
  })

  it('is an error of a strict call, and only there', async () => {
    const lenient = await resolve('{"x":"$r9"}', ',"mode":"lenient","input_schema":{}')
    expect(lenient.body.valid).toBe(true)
    const strict = await resolve('{"x":"$r9","y":"$r2"}', ',"mode":"strict"')
    expect(strict.body).toMatchObject({ valid: false, errors_total: 1, resolved: ['r2'] })
    expect(strict.body.errors[0]).toMatchObject({
      path: '/x',
      code: 'unresolved_reference',
      received: '"$r9"',
    })
    expect(strict.body.errors[0]?.message).toContain('r1')
    expect(strict.body.failure).not.toBeNull()
    expect((await resolve('"$r2"', ',"mode":"strict"')).body.valid).toBeNull()
    expect((await run.resolve('{"arguments":1,"mode":"exact"}')).status).toBe(400)
  })
})

describe('resolve', () => {
  it('on a run that does not exist is as on an empty one, and makes none', async () => {
    const other = api.newRun()
    const { status, body } = await other.resolve('{"arguments":{"x":"$r1"},"input_schema":{}}')
    expect(status).toBe(200)
    expect(body.unresolved).toEqual([
      { reference: '$r1', at: '/x', reason: 'unknown_handle', available: [] },
    ])
    expect(body.valid).toBe(true)
    expect((await other.resolve('{"arguments":1,"tool_name":"t"}')).body.code).toBe(
      'tool_not_registered',
    )
    expect((await other.read()).status).toBe(404)
    expect((await other.put('{"output":1}')).body.handle).toBe('r1')
  })

  it('needs arguments, and nothing it does not know', async () => {
    expect((await run.resolve('{}')).body.detail).toContain('"arguments"')
    expect((await run.resolve('{"arguments":1,"args":2}')).body.detail).toContain('"args"')
    expect((await run.resolve('{"arguments":1,"arguments":2}')).body.detail).toContain('twice')
    expect((await run.resolve('{"arguments":null}')).status).toBe(200)
  })

  it('does not build a call past the limit on resolved bytes', async () => {
    const other = api.newRun()
    await other.put(`{"output":"${'x'.repeat(1000)}"}`)
    expect((await other.resolve('{"arguments":["$r1","$r1","$r1"]}')).status).toBe(200)
    const { status, body } = await other.resolve(
      `{"arguments":[${Array(5).fill('"$r1"').join(',')}]}`,
    )
    expect(status).toBe(422)
    expect(body).toMatchObject({ code: 'over_limit', limit: 'resolved_bytes', value: 4096 })
  })

  it('answers well-formed text, whatever the arguments hold', async () => {
    const other = api.newRun()
    await other.put(String.raw`{"output":{"\ud800":"lone"}}`)
    const { status, body, text } = await other.resolve(
      String.raw`{"arguments":{"k\udc00":"$r1.\ud801","r":"$r1.\ud800","v":"\ud802"},"mode":"strict","input_schema":{"properties":{"v":{"const":"\ud803"}},"additionalProperties":{"type":"integer"}}}`,
    )
    expect([status, body.detail]).toEqual([200, undefined])
    const { arguments: args, ...rest } = body
    expect(JSON.stringify(args)).toContain('"r":"lone"')
    expect(body.valid).toBe(false)
    expect(body.unresolved).toHaveLength(1)
    // What is passed on keeps its escapes; what is composed has none of a lone surrogate.
    expect(text).toContain(String.raw`"v":"\ud802"`)
    expect(JSON.stringify(rest)).not.toMatch(/\\ud[89a-f][0-9a-f]{2}/i)
  })

  it('stops when the run ends', async () => {
    const other = api.newRun()
    await other.put('{"output":1}')
    await other.end()
    const { status, body } = await other.resolve('{"arguments":"$r1"}')
    expect([status, body.code]).toEqual([410, 'ended'])
  })
})
