// What belongs into members and parameters that no schema describes further: transcripts, arguments, input schemas, names of
// things that other requests have made.
import fc from 'fast-check'
import { hostileJson, hostileText, ordinaryJson, quoted } from './hostile.ts'

const MOST_MESSAGES = 8

const members = (
  arbitraries: Readonly<Record<string, fc.Arbitrary<string>>>,
  requiredKeys: readonly string[] = [],
): fc.Arbitrary<string> =>
  fc
    .record(arbitraries, { requiredKeys: [...requiredKeys] })
    .map((object) => `{${Object.entries(object).map(([key, json]) => `${quoted(key)}:${json}`)}}`)
const list = (item: fc.Arbitrary<string>, maxLength = 4): fc.Arbitrary<string> =>
  fc.array(item, { maxLength }).map((items) => `[${items}]`)
const word = (...words: readonly string[]): fc.Arbitrary<string> =>
  fc.constantFrom(...words).map(quoted)

const runName = fc.oneof(
  fc.constantFrom('demo', 'a', 'b', 'c'),
  fc.nat(20).map((n) => `n${n}`),
)
const handle = fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r9', 'r1000000')
const evidenceId = fc.constantFrom('toolu_01', 'x', 'y', 'x~2', 'x~suspension', 'r1', '$r2')
const toolName = fc.constantFrom('list_files', 'search', 't')

const reference = fc
  .tuple(handle, fc.constantFrom('', '.rows.0.name', '#/rows/0', '#/a~1b', '.0', '.', '#', '#a'))
  .map(([name, path]) => quoted(`$${name}${path}`))
const longText = fc
  .constantFrom(1, 3, 20, 60, 2_000)
  .map((n) => quoted('some line of a text\n'.repeat(n)))
const text = fc.oneof(
  word('hello', 'exit status 1', '/src/a.ts', ''),
  longText,
  hostileText.map(quoted),
)

const SCHEMAS = [
  '{"type":"object","properties":{"files":{"type":"array"}},"required":["files"]}',
  '{"$ref":"#"}',
  '{"$ref":"https://example.com/schema"}',
  '{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}',
  '{"pattern":"^(a+)+$"}',
  '{"pattern":"("}',
  '{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"a":{"type":"string"}}}',
  '{"$schema":"https://example.com/unknown"}',
  '{"type":"lists"}',
  '{"$id":"a","allOf":[{"$id":"a"}]}',
  '{"$dynamicRef":"#m","$defs":{"m":{"$dynamicAnchor":"m"}}}',
  '{"minimum":9007199254740993,"multipleOf":0.1}',
  '{"uniqueItems":true,"enum":[1e400,1.0]}',
  '{"properties":{"__proto__":{"type":"string"},"constructor":false}}',
  '{"format":"date-time","unknownKeyword":1}',
  '{"items":false,"unevaluatedProperties":false}',
  'true',
  'false',
]
const inputSchema = fc.oneof(fc.constantFrom(...SCHEMAS), ordinaryJson)

const toolUse = members({
  type: word('tool_use', 'tool_result', 'text', 'image'),
  id: word('t1', 't2'),
  name: word('search', 'edit_file', 'tool'),
  input: fc.oneof(members({ path: word('/src/a.ts'), query: text }), hostileJson),
  tool_use_id: word('t1', 't2'),
  content: text,
  text,
})
const functionCall = members({
  id: word('t1', 't2'),
  type: word('function'),
  function: members({ name: word('search'), arguments: fc.oneof(word('{"path":"a"}', '{'), text) }),
})
const summary = members(
  {
    goal: text,
    progress: text,
    decisions: list(text),
    next_steps: list(text),
    files_touched: list(word('/src/a.ts')),
  },
  ['goal', 'progress'],
)
const message = members(
  {
    role: word('user', 'user', 'assistant', 'assistant', 'tool', 'system', 'function', 'critic'),
    content: fc.oneof(text, list(toolUse), hostileJson),
    tool_calls: list(functionCall),
    tool_call_id: word('t1', 't2'),
    compaction_summary: fc.oneof(fc.constant('null'), summary),
  },
  ['role'],
)
const sentinel = fc.constantFrom(
  '{"__salvor_suspend":{"reason":"r","input_schema":{}}}',
  '{"__salvor_error":{"is_error":true,"kind":"handler","message":"m","attempts":1}}',
  '{"__salvor_error":{"kind":"handler","message":"m","attempts":-1}}',
)
const output = fc.oneof(
  ordinaryJson,
  text,
  sentinel,
  fc.constant('{"rows":[{"id":1,"name":"a.txt"},{"id":2,"name":"b.txt"}],"a/b":{"c":null}}'),
)

/** JSON texts by the name of the member they are for. */
export const MEMBERS: ReadonlyMap<string, fc.Arbitrary<string>> = new Map([
  ['messages', list(message, MOST_MESSAGES)],
  [
    'arguments',
    fc.oneof(members({ files: reference, to: text, n: reference }), list(reference), output),
  ],
  ['input_schema', inputSchema],
  ['output', output],
  ['value', output],
  ['summary', fc.oneof(summary, summary.map(quoted), text)],
  ['content', text],
  ['id', fc.oneof(evidenceId, handle).map(quoted)],
  ['recall_id', evidenceId.map(quoted)],
  ['tool_use_id', evidenceId.map(quoted)],
  ['tool_name', toolName.map(quoted)],
  ['run_id', runName.map(quoted)],
  ['ttl_seconds', fc.constantFrom('600', '600', '600', '1', 'null')],
  ['message', text],
  ['reason', text],
])

/** Texts by the name of the parameter they are for. */
export const PARAMETERS: ReadonlyMap<string, fc.Arbitrary<string>> = new Map([
  ['run_id', runName],
  ['handle', handle],
  ['tool_name', toolName],
  ['tool_use_id', evidenceId],
  ['after', fc.oneof(handle, runName)],
  ['limit', fc.constantFrom('1', '2', '1000', '0', '1001', '1.0', '1e2', ' 1', '-1')],
  // mostly so that there is a run of that name again
  ['purge', fc.constantFrom('true', 'true', 'true', 'false', '1')],
  ['path', fc.constantFrom('rows.0.name', 'rows', '', '.', 'rows.-1', 'rows.0', '__proto__')],
  ['pointer', fc.constantFrom('/rows/0/name', '', '/', 'rows', '/a~1b/c', '/~', '/rows/-')],
  ['Coatcheck-Tool-Use-Id', evidenceId],
  [
    'Idempotency-Key',
    fc.constantFrom(
      'k1',
      'k2',
      'k3',
      'k4',
      'k5',
      'k6',
      'k7',
      'k8',
      'k'.repeat(255),
      'k'.repeat(256),
    ),
  ],
  [
    'Range',
    fc.constantFrom('bytes=0-9', 'bytes=-1', 'bytes=5-', 'bytes=9-1', 'bytes=0-0,2-3', 'lines=1'),
  ],
  ['If-None-Match', fc.constantFrom('*', 'W/"a"', '"a", "b"', '')],
  ['If-Range', fc.constantFrom('"a"', 'Wed, 21 Oct 2026 07:28:00 GMT')],
])
