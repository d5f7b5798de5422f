/**
 * Selects the errors to show when there are too many. Different errors are preferred to
 * repetitions.
 */
import type { ErrorObject } from 'ajv'

/** Key of an error: its place in the schema, and the member that it concerns, if any. */
const memberKey = ({ schemaPath, params }: ErrorObject): string => {
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = params
  return `${schemaPath} ${missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName ?? ''}`
}

/**
 * Selects at most `most` errors and keeps their order. The first error of each place in the schema
 * is chosen first, then the first about each member, then the rest. Errors that are only counted
 * are never chosen.
 */
export function selectErrors(errors: readonly ErrorObject[], most: number): readonly ErrorObject[] {
  const whole = errors.filter(({ keyword }) => keyword !== '')
  if (whole.length <= most) return whole
  const ranked = new Set([
    ...firstOfEach(whole, ({ schemaPath }) => schemaPath),
    ...firstOfEach(whole, memberKey),
    ...whole,
  ])
  const chosen = new Set([...ranked].slice(0, most))
  return whole.filter((error) => chosen.has(error))
}

/** The first error of each key, in the given order. */
export function firstOfEach(
  errors: readonly ErrorObject[],
  keyOf: (error: ErrorObject) => string,
): readonly ErrorObject[] {
  const firsts = new Map<string, ErrorObject>()
  for (const error of errors) {
    const key = keyOf(error)
    if (!firsts.has(key)) firsts.set(key, error)
  }
  return [...firsts.values()]
}
