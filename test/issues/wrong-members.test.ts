// Members of a body that are of the wrong kind, or nearly right.
import { afterAll, describe, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'

const api = await startApi()
afterAll(() => api.close())

const MANY = `[${'1,'.repeat(10_000_000)}1]`

describe('a member that is a container where only a scalar can be', () => {
  // Fault: it was read into ten million values before it was refused.
  it.each([
    ['render', MANY],
    ['tool_name', MANY],
    ['tool_use_id', `{"a":${MANY}}`],
  ])('is refused by its name, however large: %s', async (name, value) => {
    const run = api.newRun()
    const { status, body } = await run.put(`{"output":1,"${name}":${value}}`)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.detail).toContain(name)
    expect(body.detail?.length).toBeLessThan(500)
    expect((await run.read()).status).toBe(404)
  })

  it.each([
    ['render', '{}'],
    ['render', '[]'],
    ['tool_name', '["read"]'],
    ['failure', '{"message":["m"]}', 'message'],
    ['failure', '{"message":"m","attempts":{}}', 'attempts'],
    ['failure', '{"message":"m","is_error":[true]}', 'is_error'],
  ])('is refused when it is small, too: %s %s', async (name, value, member = name) => {
    const output = name === 'failure' ? '' : '"output":1,'
    const { status, body } = await api.newRun().put(`{${output}"${name}":${value}}`)
    expect([status, body.code]).toEqual([400, 'invalid_request'])
    expect(body.detail).toContain(member)
  })
})

describe('a member whose name is misspelled', () => {
  // Faults: where it is needed, only that it was missing was said; of a single member it was said that "there are value".
  it.each([
    ['/v1/content-string', '{"valeu":1}', 'The body lacks the member "value"', 'valeu'],
    ['/v1/runs/typo/resolve', '{"args":{}}', 'The body lacks the member "arguments"', 'args'],
    [
      '/v1/runs/typo/results',
      '{"suspension":{"reason":"r","schema":{}}}',
      '"suspension" in the body lacks the member "input_schema"',
      'schema',
    ],
  ])(
    'is named beside the one that is missing, and those there are: %s',
    async (path, body, lacks, name) => {
      const { status, body: problem } = await api.json('POST', path, body)
      expect([status, problem.code]).toEqual([400, 'invalid_request'])
      expect(problem.detail).toMatch(
        new RegExp(
          `^${lacks} and has the unknown member "${name}"; (?:there are [a-z_]+, [a-z_, ]+|the only one is [a-z_]+)\\.$`,
        ),
      )
    },
  )

  it('is the only thing that is said where nothing is missing, by its start if it is long', async () => {
    const run = api.newRun()
    expect((await run.put('{"ouput":1}')).body.detail).toMatch(
      /^The body has the unknown member "ouput"; there are .*\boutput\b/,
    )
    const { body } = await run.put(`{"output":1,"${'x'.repeat(100_000)}":1}`)
    expect(body.detail).toMatch(/^The body has the unknown member "x{60}…"; there are /)
  })

  it('is not looked for where other members may be, or all are known', async () => {
    const { body } = await api.json('POST', '/v1/content-string', '{}')
    expect(body.detail).toBe('The body lacks the member "value".')
  })
})

describe('the inside of a sentinel', () => {
  // Fault: its is_error was an unknown member.
  it('can be put as it is, and gives that sentinel', async () => {
    const run = api.newRun()
    const encoded = await api.json<{ output: Readonly<Record<string, unknown>> }>(
      'POST',
      '/v1/sentinels/encode',
      '{"failure":{"kind":"handler","message":"it broke","attempts":2}}',
    )
    expect(encoded.status).toBe(200)
    const [inside] = Object.values(encoded.body.output)
    expect(inside).toMatchObject({ is_error: true, message: 'it broke' })
    const { status } = await run.put(JSON.stringify({ failure: inside }))
    expect(status).toBe(201)
    expect(JSON.parse((await run.value('r1')).text)).toEqual(encoded.body.output)
  })

  it('says that it is an error, or nothing of it', async () => {
    const said = []
    for (const value of ['false', 'null', '1', '"true"']) {
      const { status, body } = await api
        .newRun()
        .put(`{"failure":{"message":"m","is_error":${value}}}`)
      expect([status, body.code]).toEqual([400, 'invalid_request'])
      expect(body.detail).toContain('is_error')
      said.push(body.detail)
    }
    expect(said[0]).toContain('must be true')
  })
})

describe('a tool of a run whose name has a line end in it', () => {
  // Fault: what stands under such a name was not looked at, and a schema that was not there was compiled: a 500.
  it.each(['\n', 'a\nb', 'a\rb', 'a\u2028b'])('is what a tool is, or refused: %j', async (name) => {
    const run = api.newRun()
    for (const tool of ['""', '{}', '{"input_schema":{},"other":1}']) {
      const { status, body } = await run.open(`{"tools":{${JSON.stringify(name)}:${tool}}}`)
      expect([tool, status, body.code]).toEqual([tool, 400, 'invalid_request'])
    }
    const { body } = await run.open(`{"tools":{${JSON.stringify(name)}:{"input_schema":{}}}}`)
    expect(body.tools).toEqual([name])
  })
})

describe('who does not find the way in', () => {
  // Fault: what was sent was refused, and nothing said how it is sent.
  it('is told where a result goes that is no envelope', async () => {
    const run = api.newRun()
    for (const bare of ['{"rows":[1]}', '[1,2]', '{"rows":[1],"tool_use_id":"a"}']) {
      const { status, body } = await run.put(bare)
      expect([bare, status]).toEqual([bare, 400])
      expect(body.detail).toMatch(/Put the value under "output", or .*\+json\.$/)
    }
    const misplaced = await run.put('{"output":1,"failure":{"massage":"m","message":"m"}}')
    expect(misplaced.body.detail).not.toContain('A result itself')
  })

  it('is told what curl leaves out', async () => {
    const run = api.newRun()
    const upload = await api.call('PUT', `${run.path}/results`, 'text')
    expect([upload.status, upload.body.detail]).toEqual([405, expect.stringContaining('-X POST')])
    const patched = await api.call('PATCH', `${run.path}/results`, 'text')
    expect(patched.body.detail).not.toContain('curl')
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const form = await api.call('POST', `${run.path}/resolve`, '{"arguments":{}}', headers)
    expect([form.status, form.body.detail]).toEqual([
      415,
      expect.stringContaining("-H 'content-type: application/json'"),
    ])
  })
})

describe('what a value has to be', () => {
  it.each([
    ['an array for an object', '{"output":1,"failure":[]}', 'must be an object'],
    ['a number for a text', '{"output":1,"tool_name":7}', 'must be a string'],
  ])('is said in words: %s', async (_name, envelope, words) => {
    const { body } = await api.newRun().put(envelope)
    expect(body.detail).toContain(words)
  })

  it('is true or false in a query', async () => {
    const { body } = await api.newRun().end('?purge=yes')
    expect(body.detail).toBe('"purge" in the query must be true or false.')
  })

  it('is said of the tool whose schema is wrong, of many', async () => {
    const tools = '{"good":{"input_schema":{}},"bad":{"input_schema":{"type":"obj"}}}'
    const { status, body } = await api.newRun().open(`{"tools":${tools}}`)
    expect([status, body.code]).toEqual([422, 'invalid_schema'])
    expect(body.detail).toContain('The schema of the tool "bad" ')
  })

  it('is a handle where a result is read; an id is looked up elsewhere', async () => {
    const run = api.newRun()
    await run.put('{"output":1,"tool_use_id":"f1"}')
    const { body } = await run.result('f1')
    expect(body.detail).toContain('It has r1. GET /v1/runs/{run_id}/results?tool_use_id=… lists')
  })
})
