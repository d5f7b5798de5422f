/**
 * The one error class of the domain. Codes are stable and public: each has its page in
 * `docs/reference/problems/`. A value that is merely absent is `undefined`, not an error.
 */
export const ERROR_CODES = [
  'invalid_json',
  'invalid_utf8',
  'json_too_deep',
  'invalid_request',
  'invalid_range',
  'unauthorized',
  'forbidden_origin',
  'not_found',
  'path_not_found',
  'method_not_allowed',
  'format_fixed',
  'ended',
  'expired',
  'evicted',
  'body_too_large',
  'unsupported_media_type',
  'range_not_satisfiable',
  'over_limit',
  'tool_not_registered',
  'invalid_schema',
  'no_text_view',
  'internal_error',
  'ledger_corrupt',
  'overloaded',
  'ledger_unavailable',
  'storage_full',
] as const

/** Stable code of an error. */
export type ErrorCode = (typeof ERROR_CODES)[number]

/** Further members of a problem: the limit that was hit, the place, the choices. */
export type ErrorFacts = Readonly<Record<string, string | number | readonly string[]>>

/** An error with a stable code and a text for the caller. */
export class CoatcheckError extends Error {
  readonly code: ErrorCode
  readonly facts: ErrorFacts

  /** `detail` says what was wrong and what to do. It is shown to the caller. */
  constructor(code: ErrorCode, detail: string, facts: ErrorFacts = {}, options?: ErrorOptions) {
    super(detail, options)
    this.name = 'CoatcheckError'
    this.code = code
    this.facts = facts
  }
}
