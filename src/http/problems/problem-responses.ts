/**
 * Problems that a route declares, grouped by kinds of calls. The declarations are for the OpenAPI
 * document only; they enforce nothing.
 */
import { STATUS_CODES } from 'node:http'
import type { ErrorCode } from '../../core/errors.ts'
import { BUSY_STATUS, PROBLEM_PAGES, PROBLEM_TYPE, PROBLEMS } from './problems.ts'

/** Problems of any call: `unauthorized` with tokens, `forbidden_origin` without. */
export const CALL_PROBLEMS = [
  'unauthorized',
  'forbidden_origin',
  'internal_error',
  'overloaded',
] as const
/** Problems of a call with a JSON body. */
export const BODY_PROBLEMS = [
  ...CALL_PROBLEMS,
  'invalid_request',
  'invalid_json',
  'invalid_utf8',
  'json_too_deep',
  'body_too_large',
  'unsupported_media_type',
] as const
/** Problems of a call that reads the ledger. */
export const LEDGER_PROBLEMS = [
  ...CALL_PROBLEMS,
  'invalid_request',
  'ledger_corrupt',
  'ledger_unavailable',
] as const
/** Problems of a call that needs an open run. */
export const RUN_PROBLEMS = [
  ...LEDGER_PROBLEMS,
  'ended',
  'expired',
  'evicted',
  'over_limit',
  'storage_full',
] as const

const BUSY_HEADERS = {
  'Retry-After': {
    type: 'integer',
    description: 'Seconds after which to send the request again.',
    examples: [1],
  },
}

/**
 * Declares the problems of a route: one response for each status. Its description links to the page
 * of each code.
 */
export function problemResponses(...codes: readonly ErrorCode[]): Record<number, unknown> {
  const byStatus = Map.groupBy(new Set(codes), (code) => PROBLEMS[code].status)
  const entries = [...byStatus].map(([status, group]) => {
    const names = group.map((code) => `[\`${code}\`](${PROBLEM_PAGES}/${code})`).join(', ')
    const examples = Object.fromEntries(
      group.map((code) => [code, { $ref: `#/components/examples/${code}` }]),
    )
    return [
      status,
      {
        description: `${STATUS_CODES[status]}: ${names}`,
        ...(status === BUSY_STATUS ? { headers: BUSY_HEADERS } : {}),
        content: { [PROBLEM_TYPE]: { schema: { $ref: 'Problem#' }, examples } },
      },
    ] as const
  })
  return Object.fromEntries(entries)
}
