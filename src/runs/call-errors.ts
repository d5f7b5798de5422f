/**
 * Errors of a call as the model reads them. Each names the reference that its value came from,
 * since the model wrote the reference and can change it.
 */
import { pointerTo, type Reference, shownReference } from '../core/references.ts'
import type { ValidationError } from '../validation/validator.ts'

/** Error of a call. */
export interface CallError {
  readonly path: string
  readonly code: string
  readonly message: string
  readonly expected: string | null
  readonly received: string | null
  readonly schema_path: string | null
  /** Reference at this path or above it, clipped. Null when the value was written out. */
  readonly reference: string | null
}

/**
 * Adds to each error the reference that its value came from. `resolved` are the references whose
 * values are in the call.
 */
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

/** The reference at or above `path`. There is at most one, since references do not nest. */
function referenceAt(path: string, texts: ReadonlyMap<string, string>): string | undefined {
  for (let end = path.length; end >= 0; end = path.lastIndexOf('/', end - 1)) {
    const text = texts.get(path.slice(0, end))
    if (text !== undefined || end === 0) return text
  }
  return undefined
}

/** Text of one error in a failure. */
export function errorLine({ path, message, reference, code }: CallError): string {
  const from = reference === null || code === UNRESOLVED ? '' : ` (the value of ${reference})`
  return `${path === '' ? '(root)' : path}: ${message}${from}`
}

/** Code of the error for an unresolved reference. */
export const UNRESOLVED = 'unresolved_reference'
