/** Checks schemas by their dialect's meta-schema, and puts the first error into words. */
import type { ErrorObject, ValidateFunction } from 'ajv'
import { META_ERRORS_RANKED } from '../limits.ts'
import { wordsFor } from '../messages/error-messages.ts'
import { quote } from '../quote-data.ts'
import { type Dialect, invalidSchema, type SchemaObject } from '../tool-schema.ts'
import { compileError, newAjv } from './engine.ts'

const META_SCHEMAS: Readonly<Record<Dialect, string>> = {
  'draft-07': 'http://json-schema.org/draft-07/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
}
const JSON_SCHEMA_TYPES = 'array, boolean, integer, null, number, object, string'

/** Checks schemas by their dialects' meta-schemas. Each is compiled when it is first needed. */
export class MetaSchemas {
  readonly #checks = new Map<Dialect, ValidateFunction>()

  /**
   * Throws `invalid_schema` with the place and what is allowed there, when `schema` is not
   * well-formed.
   */
  check(schema: SchemaObject, dialect: Dialect): void {
    const error = leading(errorsOf(this.#checkOf(dialect), schema))
    if (error !== undefined) throw invalidSchema(metaReason(error, dialect), error.instancePath)
  }

  #checkOf(dialect: Dialect): ValidateFunction {
    const known = this.#checks.get(dialect)
    if (known !== undefined) return known
    const check = newAjv(dialect, { judges: 'schemas' }).getSchema(
      META_SCHEMAS[dialect],
    ) as ValidateFunction
    this.#checks.set(dialect, check)
    return check
  }
}

/** All errors of `schema`. Throws `invalid_schema` when it nests deeper than the stack allows. */
function errorsOf(check: ValidateFunction, schema: SchemaObject): readonly ErrorObject[] {
  try {
    return check(schema) ? [] : (check.errors ?? [])
  } catch (cause) {
    throw compileError(cause, schema)
  } finally {
    check.errors = null
  }
}

/** The outermost error that is not just the consequence of an error further inside. */
function leading(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const ranked = errors.slice(0, META_ERRORS_RANKED)
  const causes = ranked.filter(
    ({ instancePath }) =>
      !ranked.some((other) => other.instancePath.startsWith(`${instancePath}/`)),
  )
  return causes.toSorted((a, b) => depthOf(a) - depthOf(b))[0]
}

const depthOf = ({ instancePath }: ErrorObject): number => instancePath.split('/').length

function metaReason(error: ErrorObject, dialect: Dialect): string {
  const { instancePath, data } = error
  const place = quote(`#${instancePath}`)
  // The only enumeration in a meta-schema lists the types.
  if (error.keyword === 'enum') {
    return `is invalid at ${place}: ${quote(String(data))} is not a JSON Schema type. Types are ${JSON_SCHEMA_TYPES}.`
  }
  const isTuple = dialect === '2020-12' && instancePath.endsWith('/items') && Array.isArray(data)
  const advice = isTuple
    ? ' In 2020-12 a tuple is "prefixItems"; or declare "$schema" as draft-07.'
    : ''
  return `is invalid at ${place} by ${dialect}: it ${wordsFor(error).message}.${advice}`
}
