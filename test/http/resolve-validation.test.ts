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

describe('validation', () => {
  it('is of the real values, after references', async () => {
    const schema = ',"input_schema":{"type":"object","properties":{"rows":{"type":"array"}}}'
    const good = await resolve('{"rows":"$r1.rows"}', schema)
    expect(good.body).toMatchObject({ valid: true, errors: [], errors_total: 0, failure: null })
    const bad = await resolve('{"rows":"$r1.ref"}', schema)
    expect(bad.body).toMatchObject({ valid: false, errors_total: 1 })
    expect(bad.body.errors[0]).toMatchObject({ path: '/rows', code: 'type' })
    expect(bad.args).toBe('{"rows":"$r2"}')
  })

  it('changes nothing: no coercion, no defaults, nothing stripped', async () => {
    const { args, body } = await resolve(
      '{"n":"42","extra":[null]}',
      ',"input_schema":{"type":"object","properties":{"n":{"type":"integer"},"d":{"default":1}},"required":["n"]}',
    )
    expect(args).toBe('{"n":"42","extra":[null]}')
    expect(body.valid).toBe(false)
  })

  it('gives an invalid call its failure, which decodes and can be put as it is', async () => {
    const { body } = await resolve(
      '{"n":"x"}',
      ',"input_schema":{"required":["m"],"properties":{"n":{"type":"integer"}}}',
    )
    const failure = JSON.stringify(body.failure)
    const decoded = await api.json<{ kind: string; failure: { kind: string; message: string } }>(
      'POST',
      '/v1/sentinels/decode',
      `{"output":${failure}}`,
    )
    expect(decoded.body.failure).toMatchObject({ kind: 'invalid_input', attempts: 1 })
    expect(decoded.body.failure.message).toContain('/n')
  })

  it('tells the model how many errors it is not told', async () => {
    const rows = `[${Array(30).fill('{"t":"c"}').join(',')}]`
    const schema = '{"properties":{"rows":{"items":{"properties":{"t":{"const":"a"}}}}}}'
    const { body } = await resolve(`{"rows":${rows},"r":"$r9"}`, `,"input_schema":${schema}`)
    expect([body.errors.length, body.errors_total]).toEqual([20, 30])
    // with the reference, 31 are the model's business
    expect(JSON.stringify(body.failure)).toMatch(/\/rows\/18\/t: [^;]*; and 11 more"/)
    const few = await resolve('{"rows":[{"t":"c"}]}', `,"input_schema":${schema}`)
    expect(JSON.stringify(few.body.failure)).not.toContain('more')
  })

  it.each(['1.0', '-0', '1e3', '12e-1', '9007199254740993'])(
    'tells of %s as it was written',
    async (number) => {
      const { body } = await resolve(
        `{"n":${number}}`,
        ',"input_schema":{"properties":{"n":{"type":"string"}}}',
      )
      expect(body.errors[0]).toMatchObject({ path: '/n', received: `number ${number}` })
    },
  )

  it('by tool_name uses the schema that is registered, also by PUT of the run', async () => {
    const other = api.newRun()
    expect((await other.tool('sum it', '{"input_schema":{"type":"array"}}')).status).toBe(201)
    expect((await other.tool('sum it', '{"input_schema":{"type":"object"}}')).status).toBe(200)
    await other.open('{"tools":{"list":{"input_schema":{"type":"string"}}}}')
    const answers = []
    for (const [args, tool] of [
      ['{}', 'sum it'],
      ['[]', 'sum it'],
      ['""', 'list'],
    ]) {
      answers.push((await other.resolve(`{"arguments":${args},"tool_name":"${tool}"}`)).body.valid)
    }
    expect(answers).toEqual([true, false, true])
    const { body } = await other.resolve('{"arguments":[],"tool_name":"sum it"}')
    expect(JSON.stringify(body.failure)).toContain('sum it')
  })

  it('by a tool_name that is not registered is a 422 that names it', async () => {
    const { status, body } = await run.resolve('{"arguments":{},"tool_name":"nobody"}')
    expect([status, body.code]).toEqual([422, 'tool_not_registered'])
    expect(body.detail).toContain('"nobody"')
  })

  it('by a schema that does not compile is a 422 with the place, and such a tool is not registered', async () => {
    const other = api.newRun()
    const schema = '{"properties":{"a":{"type":"dict"}}}'
    const answers = [
      await other.resolve(`{"arguments":{},"input_schema":${schema}}`),
      await other.tool('t', `{"input_schema":${schema}}`),
      await other.open(`{"tools":{"ok":{"input_schema":{}},"t":{"input_schema":${schema}}}}`),
    ]
    for (const { status, body } of answers) {
      expect([status, body.code]).toEqual([422, 'invalid_schema'])
      expect(body.detail).toContain('/properties/a/type')
    }
    expect((await other.read()).status).toBe(404)
  })

  it('is by a schema or by a tool, not both', async () => {
    const { status, body } = await run.resolve('{"arguments":{},"input_schema":{},"tool_name":"t"}')
    expect([status, body.code]).toEqual([400, 'invalid_request'])
  })

  it.each(['true', 'false'])('takes %s as a schema', async (schema) => {
    const { body } = await resolve('1', `,"input_schema":${schema}`)
    expect(body.valid).toBe(schema === 'true')
  })

  it('lists a bounded number of errors and how many there are, and no copy of the values', async () => {
    const items = Array(400).fill('"secret"').join(',')
    const { body } = await resolve(`[${items}]`, ',"input_schema":{"items":{"type":"integer"}}')
    expect([body.errors.length, body.errors_total]).toEqual([20, 400])
    expect(JSON.stringify([body.errors, body.failure]).length).toBeLessThan(16_384)
  })

  it('tells the reference that a wrong value came from, also further in', async () => {
    const schema =
      ',"input_schema":{"properties":{"rows":{"items":{"properties":{"id":{"type":"string"}}}},"own":{"type":"null"}}}'
    const { body } = await resolve('{"rows":"$r1.rows","own":1}', schema)
    const found = body.errors.map(({ path, reference }) => [path, reference])
    expect(found).toEqual([
      ['/rows/0/id', '$r1.rows'],
      ['/rows/1/id', '$r1.rows'],
      ['/own', null],
    ])
    expect(JSON.stringify(body.failure)).toContain('(the value of $r1.rows)')
    const whole = await resolve('"$r1.n"', ',"input_schema":{"type":"string"}')
    expect(whole.body.errors[0]).toMatchObject({ path: '', reference: '$r1.n' })
  })

  it('compares numbers as they were written, also those of references', async () => {
    const other = api.newRun()
    await other.put('{"output":{"id":9007199254740993}}')
    const schema = '{"properties":{"id":{"const":9007199254740992}}}'
    const { body } = await other.resolve(`{"arguments":{"id":"$r1.id"},"input_schema":${schema}}`)
    expect(body.errors[0]).toMatchObject({
      expected: '9007199254740992',
      received: 'number 9007199254740993',
    })
  })

  it('warns about what the schema says in vain, when resolving and when registering', async () => {
    const schema = '{"minimun":1,"properties":{"n":{"format":"uint64","x-order":{"y":1}}}}'
    const { body } = await resolve('{"n":1}', `,"input_schema":${schema}`)
    expect([body.valid, body.warnings.map((warning) => warning.schema_path)]).toEqual([
      true,
      ['#/minimun', '#/properties/n/x-order', '#/properties/n/format'],
    ])
    const tool = await api.newRun().tool('t', `{"input_schema":${schema}}`)
    expect(tool.body).toMatchObject({ warnings: body.warnings })
    expect((await resolve('1')).body.warnings).toEqual([])
  })

  it('that takes too long is a 422 that names the limit', async () => {
    const impatient = await startApi({ COATCHECK_VALIDATE_MS: '250' })
    const { status, body } = await impatient
      .newRun()
      .resolve(`{"arguments":"${'a'.repeat(60)}!","input_schema":{"pattern":"^(a+)+$"}}`)
    await impatient.close()
    expect([status, body]).toMatchObject([
      422,
      { code: 'over_limit', limit: 'validate_ms', value: 250 },
    ])
  })
})
