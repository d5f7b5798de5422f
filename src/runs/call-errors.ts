/**
 * What is wrong with a call, as the model is told: each error with the reference that its value came from, as that is what
 * the model wrote and can change.
 */
import { pointerTo, type Reference, shownReference } from '../core/references.ts'
import type { ValidationError } from '../validation/validator.ts'

export interface CallError {
  readonly path: string
  readonly code: string
  readonly message: string
  readonly expected: string | null
  readonly received: string | null
  readonly schema_path: string | null
  /** The reference at this path or above it, of a very long one its start; null where the value was written out. */
  readonly reference: string | null
}

/** The errors with their references, of which `resolved` are those whose values are in the call. */
export function withReferences(
  errors: readonly ValidationError[],
  resolved: readonly Reference[],
): readonly CallError[] {
  if (errors.length === 0) return []
  const texts = new Map(
    resolved.map((reference) => [pointerTo(reference), shownReference(reference)]),
  )
  return errors.map((error) => ({ ...error, reference: referenceAt(error.path, texts) ?? null }))
}

/** References do not nest, so that at most one stands at or above a path. */
function referenceAt(path: string, texts: ReadonlyMap<string, string>): string | undefined {
  for (let end = path.length; end >= 0; end = path.lastIndexOf('/', end - 1)) {
    const text = texts.get(path.slice(0, end))
    if (text !== undefined || end === 0) return text
  }
  return undefined
}

/** One error as a line of the failure. */
export function errorLine({ path, message, reference, code }: CallError): string {
  const from = reference === null || code === UNRESOLVED ? '' : ` (the value of ${reference})`
  return `${path === '' ? '(root)' : path}: ${message}${from}`
}

export const UNRESOLVED = 'unresolved_reference'
