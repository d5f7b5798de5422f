/** Which errors are shown where there are too many: those that differ, before repetitions of the same one. */
import type { ErrorObject } from 'ajv'

/** The place in the schema, and the member that the error is about, if any. */
const memberKey = ({ schemaPath, params }: ErrorObject): string => {
  const { missingProperty, additionalProperty, unevaluatedProperty, propertyName } = params
  return `${schemaPath} ${missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName ?? ''}`
}

/**
 * At most `most` errors, in the order given. The first of each place in the schema is chosen first, then the first about
 * each member, then the rest. Errors that are only counted are never chosen.
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

/** The first error of each key, in the order given. */
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
