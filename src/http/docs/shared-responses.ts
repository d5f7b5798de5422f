/**
 * Error responses of the OpenAPI document, each listed once under `components.responses`. Operations that answer a status
 * with the same problem codes refer to the same entry.
 */
import { PROBLEM_TYPE } from '../problems/problems.ts'

/** A response of an operation, or a reference to one under `components.responses`. */
export interface Response {
  readonly $ref?: string
  readonly description?: string
  readonly headers?: Readonly<Record<string, unknown>>
  readonly content?: Record<string, Record<string, unknown>>
}

const SHARED = '#/components/responses/'

/**
 * The response itself where it is no error, else a reference to its entry in `shared`, which is added when it is missing.
 * The name of an entry is the list of its codes: `ended-expired-evicted`.
 */
export function shareProblems(response: Response, shared: Map<string, Response>): Response {
  const examples = response.content?.[PROBLEM_TYPE]?.['examples'] as object | undefined
  if (examples === undefined) return response
  const name = Object.keys(examples).join('-')
  shared.set(name, response)
  return { $ref: `${SHARED}${name}` }
}
