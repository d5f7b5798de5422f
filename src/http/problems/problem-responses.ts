/**
 * The problems that a route declares, by what it does. Declarations are for the OpenAPI document; nothing is enforced by
 * them.
 */
import { STATUS_CODES } from 'node:http'
import type { ErrorCode } from '../../core/errors.ts'
import { BUSY_STATUS, PROBLEM_PAGES, PROBLEM_TYPE, PROBLEMS } from './problems.ts'

/** Any call: who may call is one answer with a token and another without. */
export const CALL_PROBLEMS = [
  'unauthorized',
  'forbidden_origin',
  'internal_error',
  'overloaded',
] as const
/** A call with a JSON body. */
export const BODY_PROBLEMS = [
  ...CALL_PROBLEMS,
  'invalid_request',
  'invalid_json',
  'invalid_utf8',
  'json_too_deep',
  'body_too_large',
  'unsupported_media_type',
] as const
/** A call that asks the ledger. */
export const LEDGER_PROBLEMS = [
  ...CALL_PROBLEMS,
  'invalid_request',
  'ledger_corrupt',
  'ledger_unavailable',
] as const
/** A call that changes a run, which has to be open for it. */
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
    description: 'Seconds after which to send it again.',
    examples: [1],
  },
}

/** The error responses that a route may answer with: one per status. Its description links the page of each of its codes. */
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
