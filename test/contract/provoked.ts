// For each code that a caller can bring about: the calls that do, of which the last is answered with it.
import type { InjectOptions } from 'fastify'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { TestService } from './support.ts'

const DAY_MS = 24 * 3600 * 1000
const JSON_TYPE = { 'content-type': 'application/json' }
/** Becomes a run of its own for each code. */
const NAME = 'demo'
const RUN = `/v1/runs/${NAME}`

type Call = InjectOptions | { readonly waitMs: number }

export interface Answer {
  readonly method: string
  readonly url: string
  readonly status: number
  /** As if its run were the one of the examples. */
  readonly body: Record<string, unknown>
}

const post = (
  url: string,
  payload: object | string | Buffer,
  headers: object = JSON_TYPE,
): Call => ({
  method: 'POST',
  url,
  payload,
  headers: { ...headers },
})
const get = (url: string, headers: Record<string, string> = {}): Call => ({
  method: 'GET',
  url,
  headers,
})
const put = (output: unknown): Call => post(`${RUN}/results`, { tool_use_id: 'toolu_01', output })
const END: Call = { method: 'DELETE', url: RUN }
const ROWS = {
  rows: [
    { id: 1, name: 'a.txt' },
    { id: 2, name: 'b.txt' },
  ],
  total: 2,
}
const SCHEMA_BYTES = 300_000

const PROVOKED: Readonly<Partial<Record<ErrorCode, readonly Call[]>>> = {
  invalid_json: [post(`${RUN}/results`, '{"output": [1, 2')],
  invalid_utf8: [post(`${RUN}/results`, Buffer.from('{"output": "\xff"}', 'latin1'))],
  json_too_deep: [post('/v1/content-string', `{"value": ${'['.repeat(1024)}${']'.repeat(1024)}}`)],
  invalid_request: [post(`${RUN}/results`, { tool_use: 'toolu_01', output: 1 })],
  invalid_range: [
    put(ROWS),
    post(`${RUN}/recall`, { id: 'toolu_01', range: { start: 20, end: 30 } }),
  ],
  forbidden_origin: [get('/v1/runs', { origin: 'https://example.com' })],
  not_found: [get('/v1/runs/other')],
  path_not_found: [put(ROWS), get(`${RUN}/results/r1/value?path=rows.5`)],
  ended: [put(ROWS), END, put(ROWS)],
  expired: [put(ROWS), { waitMs: 8 * DAY_MS }, put(ROWS)],
  evicted: [put(ROWS), END, { waitMs: 31 * DAY_MS }, post(`${RUN}/recall`, { id: 'toolu_01' })],
  body_too_large: [
    post(`${RUN}/results`, '{"output": 1}', { ...JSON_TYPE, 'content-length': '67108865' }),
  ],
  unsupported_media_type: [
    post(`${RUN}/results`, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
  ],
  range_not_satisfiable: [put(ROWS), get(`${RUN}/results/r1/value`, { range: 'bytes=5000-' })],
  over_limit: [
    post(`${RUN}/resolve`, {
      arguments: {},
      input_schema: { description: 'a'.repeat(SCHEMA_BYTES) },
    }),
  ],
  tool_not_registered: [post(`${RUN}/resolve`, { arguments: {}, tool_name: 'deploy' })],
  invalid_schema: [
    post(`${RUN}/resolve`, {
      arguments: {},
      input_schema: { properties: { files: { type: 'lists' } } },
    }),
  ],
  no_text_view: [
    post(`${RUN}/results?tool_use_id=toolu_05`, Buffer.from([0, 1]), {
      'content-type': 'image/png',
    }),
    post(`${RUN}/recall`, { id: 'toolu_05' }),
  ],
}

export const PROVOKABLE = Object.keys(PROVOKED) as readonly ErrorCode[]

/** Makes the calls for a code, in a run of its own; what each is answered with. */
export async function provoke(service: TestService, code: ErrorCode): Promise<readonly Answer[]> {
  const own = `${NAME}-${code}`
  const answers: Answer[] = []
  for (const call of PROVOKED[code] ?? []) {
    if ('waitMs' in call) service.clock.ms += call.waitMs
    else {
      const { method, url } = call as { method: string; url: string }
      const reply = await service.app.inject({ ...call, url: url.replace(NAME, own) })
      const body = JSON.parse(reply.payload.replaceAll(own, NAME)) as Answer['body']
      answers.push({ method, url, status: reply.statusCode, body })
    }
  }
  return answers
}
