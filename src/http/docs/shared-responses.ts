/**
 * Error responses of the OpenAPI document. Each is listed once under `components.responses`.
 * Operations that answer a status with the same problem codes refer to the same entry.
 */
import { PROBLEM_TYPE } from '../problems/problems.ts'

/** Response of an operation, or a reference to an entry under `components.responses`. */
export interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Record<string, Record<string, unknown>>
}

const SHARED = '#/components/responses/'

/**
 * Replaces an error response by a reference to its entry in `shared`, and adds a missing entry. The
 * name of an entry is the list of its codes: `ended-expired-evicted`. Other responses are returned
 * unchanged.
 */
export function shareProblems(response: Response, shared: Map<string, Response>): Response {
  const examples = response.content?.[PROBLEM_TYPE]?.['examples'] as object | undefined
  if (examples === undefined) return response
  const name = Object.keys(examples).join('-')
  shared.set(name, response)
  return { $ref: `${SHARED}${name}` }
}
