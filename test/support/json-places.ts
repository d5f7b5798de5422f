// Every place of the API where a caller's JSON value stands, and what comes back of it. Whatever the bytes, all places have to
// take them or refuse them alike. Knows nothing of how JSON is read.
import type { Answer, Api } from './api.ts'

export interface PlaceAnswer {
  readonly status: number
  /** Of a problem. */
  readonly code: string | undefined
  /** The value's bytes as the service gives them back, from a place that does. */
  readonly returned: Buffer | undefined
  /** What those have to be. */
  readonly expected: Buffer
}

export interface Place {
  readonly name: string
  /** What stands before and after the value in the body; empty where the body is the value. */
  readonly around: readonly [before: string, after: string]
  send(api: Api, value: Buffer): Promise<PlaceAnswer>
}

/** Levels of nesting that the place with the most of them adds to a value's own. */
export const PLACE_LEVELS = 5

const OK_STATUSES: readonly number[] = [200, 201]
const RUN = '/v1/runs/json-values'
const RAW_TYPE = 'application/vnd.example+json'
const TOOL_CONTENT =
  '{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":'

export const PLACES: readonly Place[] = [
  {
    name: 'a raw body',
    around: ['', ''],
    async send(api, value) {
      const answer = await api.call('POST', `${RUN}/results`, value, { 'content-type': RAW_TYPE })
      return { ...told(answer), returned: await keptValue(api, answer), expected: value }
    },
  },
  {
    name: 'an output',
    around: ['{"tool_name":"t","output":', '}'],
    async send(api, value) {
      const answer = await api.json('POST', `${RUN}/results`, inside(this, value))
      return { ...told(answer), returned: await keptValue(api, answer), expected: trimmed(value) }
    },
  },
  inAnswer('the arguments of a call', {
    path: `${RUN}-unused/resolve`,
    around: ['{"arguments":', '}'],
    returned: ['{"arguments":', ',"resolved":[]'],
  }),
  inAnswer('the schema of a suspension', {
    path: '/v1/sentinels/encode',
    around: ['{"suspension":{"reason":"r","input_schema":', '}}'],
    returned: ['"input_schema":', '}}}'],
  }),
  inAnswer('a transcript that is elided', {
    path: '/v1/compaction/elide',
    around: [TOOL_CONTENT, '}]}],"keep_recent_tool_results":null}'],
    returned: ['"content":[{"type":"tool_result","tool_use_id":"t","content":', '}]}],"elided":'],
    // The space around it is inside the transcript.
    isWhole: true,
  }),
  onlyTaken('a tool result that gives way', '/v1/compaction/elide', [
    TOOL_CONTENT,
    '}]}],"keep_recent_tool_results":0}',
  ]),
  onlyTaken('a recorded output', '/v1/sentinels/decode', ['{"output":', '}']),
  onlyTaken('a value to write as text', '/v1/content-string', ['{"value":', '}']),
  onlyTaken('a value to preview', '/v1/preview', ['{"handle":"r1","value":', '}']),
]

/** A place whose value stands in the answer, between `returned`. */
function inAnswer(
  name: string,
  {
    path,
    around,
    returned,
    isWhole = false,
  }: Pick<Place, 'around'> & {
    readonly path: string
    readonly returned: Place['around']
    readonly isWhole?: boolean
  },
): Place {
  const [before, after] = returned
  return {
    name,
    around,
    async send(api, value) {
      const answer = await api.json('POST', path, inside({ around }, value))
      const start = answer.bytes.indexOf(before) + before.length
      const slice = answer.bytes.subarray(start, answer.bytes.lastIndexOf(after))
      const isOk = OK_STATUSES.includes(answer.status)
      const expected = isWhole ? value : trimmed(value)
      return { ...told(answer), returned: isOk ? slice : undefined, expected }
    },
  }
}

function onlyTaken(name: string, path: string, around: Place['around']): Place {
  return {
    name,
    around,
    async send(api, value) {
      const answer = await api.json('POST', path, inside({ around }, value))
      return { ...told(answer), returned: undefined, expected: value }
    },
  }
}

/** The body with the value in its place. */
export function inside({ around: [before, after] }: Pick<Place, 'around'>, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from(before), value, Buffer.from(after)])
}

function told({ status, body }: Answer): Pick<PlaceAnswer, 'status' | 'code'> {
  return { status, code: OK_STATUSES.includes(status) ? undefined : body.code }
}

async function keptValue(api: Api, answer: Answer): Promise<Buffer | undefined> {
  if (!OK_STATUSES.includes(answer.status)) return undefined
  const { bytes } = await api.call('GET', `${RUN}/results/${answer.body['handle']}/value`)
  return bytes
}

/** Without the white space around it, which is the envelope's. */
function trimmed(value: Buffer): Buffer {
  const text = value.toString('latin1')
  const start = /^[ \t\r\n]*/.exec(text)?.[0].length ?? 0
  const space = /[ \t\r\n]*$/.exec(text.slice(start))?.[0].length ?? 0
  return value.subarray(start, value.length - space)
}
