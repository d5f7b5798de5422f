/**
 * One example of each problem, for the OpenAPI document and for the pages in
 * `docs/reference/problems/`. The service does not use them to answer.
 */
import { ERROR_CODES, type ErrorCode, type ErrorFacts } from '../../core/errors.ts'
import { ADVICE, PROBLEM_PAGES, PROBLEMS, type Problem } from '../problems/problems.ts'

const INSTANCE = '7f6b2a9e-3c1d-4e0a-9b57-0d6c8f1e2a34'

/** Facts of each example, and its detail unless that comes from `ADVICE`. */
const PARTICULARS: Readonly<Record<ErrorCode, { detail?: string } & ErrorFacts>> = {
  invalid_json: {
    detail: 'The JSON is malformed at byte 16: "," or "]" expected, the input ends there.',
    offset_bytes: 16,
  },
  invalid_utf8: {
    detail: 'The JSON is not valid UTF-8: byte 12 begins no code point.',
    offset_bytes: 12,
  },
  json_too_deep: {
    detail: 'The JSON nests deeper than 1024 levels at byte 1033. Flatten it, or put it as text.',
    limit: 'json_depth_levels',
    value: 1024,
    offset_bytes: 1033,
  },
  invalid_request: {
    detail:
      'The body has the unknown member "tool_use"; there are tool_use_id, tool_name, render, output, failure, suspension. Put the value under "output", or send it as a raw body: with ?envelope=none, or with another type, such as application/vnd.tool+json.',
  },
  invalid_range: {
    detail:
      'Lines are numbered from 1, both ends included; there are 13, and a start of 20 is past the end.',
    total_lines: 13,
    total_chars: 132,
  },
  unauthorized: {
    detail:
      'Send the header "authorization: Bearer <token>" with the token of COATCHECK_TOKEN or one of COATCHECK_TOKENS_FILE. On the page /docs, press "Authorize" and enter it.',
  },
  forbidden_origin: {
    detail:
      'Without COATCHECK_TOKEN only processes of this machine are served, and the Origin "https://example.com" is another site. Call it as http://127.0.0.1:<port>, or set a token.',
  },
  not_found: {
    detail:
      'There is no run "other". A run begins with its first put, or with PUT /v1/runs/{run_id}.',
  },
  path_not_found: {
    detail: 'The path "rows.5" is not there: no "5" in the array, which has 0..1.',
    available: ['0..1'],
  },
  method_not_allowed: {
    detail: 'There is no DELETE /v1/runs; this path takes GET, HEAD.',
    allow: 'GET, HEAD',
  },
  format_fixed: {
    detail: 'The run is open with the format reference, which is fixed. Use another run.',
    format: 'reference',
  },
  ended: {
    detail:
      'The run "demo" was ended. Its evidence can still be recalled; use another run for new work, or purge this one to reuse its name.',
  },
  expired: {
    detail:
      'The run "demo" was idle for longer than its ttl_seconds (604800) and has ended. Its evidence can still be recalled; use another run for new work, or purge this one to reuse its name.',
    limit: 'ttl_seconds',
    value: 604_800,
  },
  evicted: {
    detail:
      'The run "demo" has ended and its retention is over: its evidence is gone. Purge it to reuse its name.',
  },
  body_too_large: {
    detail: 'The body has more than 67108864 bytes, the limit (json_body_bytes).',
    limit: 'json_body_bytes',
    value: 67_108_864,
  },
  unsupported_media_type: {
    detail:
      "A put cannot take this body: application/x-www-form-urlencoded is a form (with curl, add -H 'content-type: …' to --data-binary). Send application/json (an envelope), another JSON type (*/*+json), text/plain or any other text type in UTF-8, or application/octet-stream.",
  },
  range_not_satisfiable: {
    detail: 'The range "bytes=5000-" lies outside the value, which has 68 bytes.',
  },
  over_limit: {
    detail:
      'The schema has 300018 bytes; at most 262144 are taken. Leave out descriptions, or share parts under "$defs".',
    limit: 'schema_bytes',
    value: 262_144,
  },
  tool_not_registered: {
    detail:
      'The run "demo" has no tool "deploy". Register it with PUT /v1/runs/{run_id}/tools/{tool_name}, or send "input_schema".',
  },
  invalid_schema: {
    detail:
      'The schema is invalid at "#/properties/files/type": "lists" is not a JSON Schema type. Types are array, boolean, integer, null, number, object, string.',
    schema_path: '#/properties/files/type',
  },
  no_text_view: {
    detail:
      'r1 is binary (image/png) and has no lines to recall. Read its bytes: GET /v1/runs/{run_id}/results/r1/value.',
  },
  internal_error: {},
  ledger_corrupt: {},
  overloaded: {
    detail: '4096 puts wait to be committed, which is the limit. Send it again in a moment.',
    limit: 'queued_puts',
    value: 4096,
  },
  ledger_unavailable: {},
  storage_full: {},
}

/** Example of each code. */
export const PROBLEM_EXAMPLES = Object.fromEntries(
  ERROR_CODES.map((code) => [code, exampleOf(code)]),
) as Readonly<Record<ErrorCode, Problem>>

function exampleOf(code: ErrorCode): Problem {
  const { status, title } = PROBLEMS[code]
  const { detail = ADVICE[code], ...facts } = PARTICULARS[code]
  return {
    type: `${PROBLEM_PAGES}/${code}`,
    title,
    status,
    code,
    ...(detail === undefined ? {} : { detail }),
    instance: INSTANCE,
    ...facts,
  }
}
