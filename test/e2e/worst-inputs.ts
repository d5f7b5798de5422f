// The worst inputs of every route, within the limits as shipped: what each would hold the event loop longest with. In order: a
// later one may read what an earlier one has kept. A new route needs a line here.
const RUN = '/v1/runs/worst'
const JSON_TYPE = { 'content-type': 'application/json' }
/** Nearly the largest JSON body, 64 MiB. */
const LARGE_BYTES = 66_000_000
/** Nearly the largest that is worked on in the main thread: of a put 1 MiB, of any other call 256 KiB. */
const INLINE_PUT_BYTES = 1_040_000
const INLINE_BYTES = 260_000
const STREAM_BYTES = 268_435_456
const DEPTH_LEVELS = 1_000

export interface WorstInput {
  /** As in the OpenAPI document. */
  readonly route: string
  readonly name: string
  /** Tried by `npm test`; the others by `npm run check:stalls` alone. */
  readonly isQuick?: boolean
  readonly path: string
  readonly body?: () => Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** `before`, as many of `item` as fit in so many bytes, `after`. */
function filled(before: string, item: string, after: string, bytes: number): Buffer {
  const count = Math.floor((bytes - before.length - after.length) / (item.length + 1))
  const items = Buffer.alloc(count * (item.length + 1) - 1, `${item},`)
  return Buffer.concat([Buffer.from(before), items, Buffer.from(after)])
}

/** A string of one character, with text around it. */
const text = (before: string, character: string, after: string, bytes: number): Buffer =>
  Buffer.concat([Buffer.from(before), Buffer.alloc(bytes, character), Buffer.from(after)])

/** An object with so many bytes of different names, not in their order. */
function names(before: string, after: string, bytes: number): Buffer {
  const members: string[] = []
  for (let n = 0, size = 0; size < bytes; n++) {
    const member = `"${((n * 7_919) % 10_000_019).toString(36)}":${n}`
    members.push(member)
    size += member.length + 1
  }
  return Buffer.from(`${before}{${members.join(',')}}${after}`)
}

const MESSAGE = '{"role":"user","content":"some words, 123 numbers and /a/path.txt"}'
const TOOL_MESSAGE = `{"role":"tool","tool_call_id":"x","content":"${'r'.repeat(120)}"}`
const messages = (item: string, rest: string, bytes: number): Buffer =>
  filled('{"messages":[', item, `],${rest}}`, bytes)

/** The same worst body for the largest there may be and for the largest that the main thread works on. */
function both(
  given: Omit<WorstInput, 'body'> & { readonly body: (bytes: number) => Buffer },
): readonly WorstInput[] {
  const { body, isQuick, ...input } = given
  const inlineBytes = input.route === PUT ? INLINE_PUT_BYTES : INLINE_BYTES
  const large = { ...input, body: () => body(LARGE_BYTES) }
  return [
    { ...input, name: `${input.name}, inline`, isQuick: true, body: () => body(inlineBytes) },
    { ...large, name: `${input.name}, 63 MiB`, ...(isQuick === true ? { isQuick } : {}) },
  ]
}

const PUT = 'POST /v1/runs/{run_id}/results'
const put = { route: PUT, path: `${RUN}/results`, headers: JSON_TYPE }
const post = (path: string) => ({ route: `POST ${path}`, path, headers: JSON_TYPE })
const get = (
  route: string,
  path: string,
  headers = {},
): Pick<WorstInput, 'route' | 'path' | 'headers'> => ({
  route: `GET ${route}`,
  path,
  headers,
})
const RESULT = '/v1/runs/{run_id}/results/{handle}'
const raw = (toolUseId: string, type: string) => ({
  route: PUT,
  path: `${RUN}/results?tool_use_id=${toolUseId}`,
  headers: { 'content-type': type },
})

/** Kept under ids, so that reads find them by recall; `r1`, `r2`, … in this order where they are kept for the first time. */
const PUTS: readonly WorstInput[] = [
  {
    ...put,
    name: 'an array of numbers, 63 MiB',
    isQuick: true,
    body: () => filled('{"output":{"a":[', '123456789', ']}}', LARGE_BYTES),
  },
  {
    ...put,
    name: 'one long name, 63 MiB',
    isQuick: true,
    body: () => text('{"output":{"', 'k', '":1}}', LARGE_BYTES),
  },
  {
    ...raw('line', 'text/plain'),
    name: 'a text of one line, 256 MiB',
    body: () => Buffer.alloc(STREAM_BYTES, 'l'),
  },
  {
    ...raw('lines', 'text/plain'),
    name: 'a text of line ends, 256 MiB',
    body: () => Buffer.alloc(STREAM_BYTES, '\n'),
  },
  {
    ...raw('wide', 'text/plain'),
    name: 'a text of wide characters, 1 MiB',
    isQuick: true,
    body: () => Buffer.alloc(1_048_575, '\u{20ac}'),
  },
  {
    ...raw('zeros', 'application/octet-stream'),
    name: 'a binary, 256 MiB',
    body: () => Buffer.alloc(STREAM_BYTES),
  },
  {
    ...raw('json', 'application/vnd.tool+json'),
    name: 'a bare document, 63 MiB',
    body: () => filled('[', '{"a":[1,2]}', ']', LARGE_BYTES),
  },
  ...both({
    ...put,
    name: 'a name repeated',
    body: (n) => filled('{"output":{', '"a":1', '}}', n),
  }),
  ...both({ ...put, name: 'names to sort', body: (n) => names('{"output":', '}', n) }),
  ...both({ ...put, name: 'an escaped string', body: (n) => text('{"output":"', '\\n', '"}', n) }),
  ...both({
    ...put,
    name: 'a failure',
    body: (n) => text('{"failure":{"message":"', 'f', '"}}', n),
  }),
  ...both({
    ...put,
    name: 'a failure of many causes',
    body: (n) => filled('{"failure":{"messages":[', '"f"', ']}}', n),
  }),
  ...both({
    ...put,
    name: 'a suspension',
    body: (n) => filled('{"suspension":{"reason":"r","input_schema":[', '{}', ']}}', n),
  }),
  ...both({
    ...put,
    name: 'deep arrays',
    body: (n) =>
      filled('{"output":[', '['.repeat(DEPTH_LEVELS) + ']'.repeat(DEPTH_LEVELS), ']}', n),
  }),
  ...both({ ...put, name: 'unknown members', body: (n) => names('{"output":1,"x":', '}', n) }),
  ...both({ ...put, name: 'unknown members of ours', body: (n) => names('', '', n) }),
]

const READS: readonly WorstInput[] = [
  ...['?pointer=/a&as=text', '?path=a', '?path=a.1', '?path=none', '?as=text', ''].map((query) => ({
    ...get(`${RESULT}/value`, `${RUN}/results/r1/value${query}`, { range: 'bytes=-1' }),
    name: `the last byte of ${query === '' ? 'a value' : query}`,
    isQuick: query.includes('pointer'),
  })),
  {
    ...get(`${RESULT}/value`, `${RUN}/results/r1/value?path=a`),
    name: 'all of a slice of 63 MiB',
  },
  ...['auto', 'verbatim', 'preview', 'window'].map((render) => ({
    ...get(`${RESULT}/content`, `${RUN}/results/r1/content?render=${render}`),
    name: `render=${render} of 63 MiB`,
    isQuick: render === 'auto',
  })),
  { ...get(RESULT, `${RUN}/results/r2`), name: 'a result with a long preview', isQuick: true },
  {
    ...get('/v1/runs/{run_id}/results', `${RUN}/results?limit=1000`),
    name: 'results with long previews',
    isQuick: true,
  },
  {
    ...get('/v1/runs/{run_id}/results', `${RUN}/results?tool_name=none`),
    name: 'results, none of which matches',
  },
  { ...get('/v1/runs', '/v1/runs?order=last_request_at&state=evicted'), name: 'runs by time' },
  { ...get('/v1/runs/{run_id}', RUN), name: 'a run with many tools', isQuick: true },
  ...(
    [
      ['{"id":"r1"}', 'the start of 63 MiB'],
      [
        '{"id":"line","chars":{"start":200000000,"end":300000000}}',
        'the inside of a line of 256 MiB',
      ],
      ['{"id":"lines","range":{"start":1,"end":200000000}}', 'empty lines'],
      ['{"id":"r2","range":{"start":2,"end":2}}', 'a line with a long name'],
    ] as const
  ).map(([body, name]) => ({
    route: 'POST /v1/runs/{run_id}/recall',
    path: `${RUN}/recall`,
    headers: JSON_TYPE,
    name,
    isQuick: body.includes('r1') || body.includes('r2'),
    body: () => Buffer.from(body),
  })),
]

const resolve = {
  route: 'POST /v1/runs/{run_id}/resolve',
  path: `${RUN}/resolve`,
  headers: JSON_TYPE,
}

const CALLS: readonly WorstInput[] = [
  {
    ...resolve,
    name: '900 references into 63 MiB',
    isQuick: true,
    body: () => {
      const references = Array.from({ length: 900 }, (_, n) => `$r1.a.${6_000_000 - n}`)
      return Buffer.from(JSON.stringify({ arguments: references }))
    },
  },
  {
    ...resolve,
    name: '63 MiB, judged',
    body: () => Buffer.from('{"arguments":{"x":"$r1"},"input_schema":{"type":"object"}}'),
  },
  ...both({
    ...resolve,
    name: 'strings that are no references',
    body: (n) => filled('{"arguments":[', '"$HOME"', ']}', n),
  }),
  {
    ...resolve,
    name: 'the most references, none of which resolves',
    isQuick: true,
    body: () => filled('{"arguments":[', '"$r999"', ']}', 8_000),
  },
  ...both({
    ...post('/v1/preview'),
    name: 'names',
    body: (n) => names('{"handle":"r1","value":', '}', n),
  }),
  ...both({
    ...post('/v1/preview'),
    name: 'one long name',
    body: (n) => text('{"handle":"r1","value":{"', 'k', '":1}}', n),
  }),
  ...both({
    ...post('/v1/window'),
    name: 'one line',
    body: (n) => text('{"content":"', 'w', '"}', n),
  }),
  ...both({
    ...post('/v1/window'),
    name: 'line ends',
    body: (n) => text('{"content":"', '\\n', '"}', n),
  }),
  ...both({
    ...post('/v1/content-string'),
    name: 'names to sort',
    body: (n) => names('{"value":', '}', n),
  }),
  ...both({
    ...post('/v1/content-string'),
    name: 'numbers',
    body: (n) => filled('{"value":[', '1.50e3', ']}', n),
  }),
  ...both({
    ...post('/v1/sentinels/encode'),
    name: 'many causes',
    body: (n) => filled('{"failure":{"messages":[', '"f"', ']}}', n),
  }),
  ...both({
    ...post('/v1/sentinels/decode'),
    name: 'an output',
    body: (n) => names('{"output":', '}', n),
  }),
  ...both({
    ...post('/v1/failures/compact'),
    name: 'failures',
    body: (n) => filled('{"events":[', '{"tool":"t","message":"m"}', ']}', n),
  }),
  ...both({
    ...post('/v1/failures/compact'),
    name: 'one long message',
    body: (n) => text('{"events":[{"tool":"t","message":"', 'm', '"}]}', n),
  }),
  ...both({
    ...post('/v1/compaction/elide'),
    name: 'messages',
    isQuick: true,
    body: (n) => messages(MESSAGE, '"keep_recent_tool_results":1', n),
  }),
  ...both({
    ...post('/v1/compaction/elide'),
    name: 'tool results',
    body: (n) => messages(TOOL_MESSAGE, '"keep_recent_tool_results":1', n),
  }),
  ...both({
    ...post('/v1/compaction/trigger'),
    name: 'messages',
    body: (n) => messages(MESSAGE, '"auto_threshold_tokens":1', n),
  }),
  ...both({
    ...post('/v1/compaction/plan'),
    name: 'messages',
    body: (n) => messages(MESSAGE, '"preserve_recent_user_tokens":10,"run_id":"worst"', n),
  }),
  ...both({
    ...post('/v1/compaction/apply'),
    name: 'messages',
    body: (n) => messages(MESSAGE, '"preserve_recent_user_tokens":10,"summary":"s"', n),
  }),
]

/** The largest schema, 256 KiB. */
const SCHEMA_BYTES = 260_000
const tool = (bytes: number): Buffer =>
  filled('{"input_schema":{"required":["a"],"enum":[', '"x"', ']}}', bytes)

const REGISTRY: readonly WorstInput[] = [
  {
    route: 'PUT /v1/runs/{run_id}',
    path: RUN,
    headers: JSON_TYPE,
    name: 'the most tools',
    isQuick: true,
    body: () => {
      const tools = Array.from({ length: 1_000 }, (_, n) => [
        `${'t'.repeat(200)}${n}`,
        { input_schema: { type: 'object' } },
      ])
      return Buffer.from(JSON.stringify({ tools: Object.fromEntries(tools) }))
    },
  },
  ...both({
    route: 'PUT /v1/runs/{run_id}',
    path: RUN,
    headers: JSON_TYPE,
    name: 'too many tools',
    body: (n) => {
      const members = names('', '', n).toString().replaceAll(/:\d+/g, ':null')
      return Buffer.from(`{"tools":${members}}`)
    },
  }),
  {
    route: 'PUT /v1/runs/{run_id}/tools/{tool_name}',
    path: `${RUN}/tools/t`,
    headers: JSON_TYPE,
    name: 'a schema, 256 KiB',
    isQuick: true,
    body: () => tool(SCHEMA_BYTES),
  },
  {
    route: 'PUT /v1/runs/{run_id}/tools/{tool_name}',
    path: `${RUN}/tools/t`,
    headers: JSON_TYPE,
    name: 'a schema that is too large',
    body: () => tool(LARGE_BYTES),
  },
  {
    route: 'DELETE /v1/runs/{run_id}',
    path: `${RUN}?purge=true`,
    name: 'a run with all of this',
    isQuick: true,
  },
]

const FIXED: readonly WorstInput[] = [
  '/livez',
  '/readyz',
  '/metrics',
  '/v1/tools/recall?provider=mcp',
].map((path) => ({
  ...get(path.split('?', 1)[0] ?? '', path),
  name: 'what it always answers',
  isQuick: true,
}))

export const WORST_INPUTS: readonly WorstInput[] = [
  ...PUTS,
  ...REGISTRY.slice(0, 1),
  ...READS,
  ...CALLS,
  ...FIXED,
  ...REGISTRY.slice(1),
]
