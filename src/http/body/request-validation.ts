/**
 * Validation of requests against the route schemas. Params and queries arrive as text and are
 * coerced. A body is typed already; it is neither coerced nor stripped.
 *
 * Fastify's `setValidatorCompiler` and `setSerializerCompiler` are not enough: a child context that
 * calls `addSchema` makes its own compilers from the factories (fastify 5.12). So the factories are
 * set.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { FastifyServerOptions } from 'fastify'
import { quote } from '../../validation/quote-data.ts'
import { serialize } from '../reply/reply.ts'
import { RawBody } from './raw-body.ts'

/** Keyword for a schema of callers' JSON, which stays bytes; see `json-body.ts`. */
export const OPAQUE = 'x-opaque-json'
/** Keyword with a sentence for callers who send something other than the schema's object. */
export const INSTEAD = 'x-instead'

type SchemaController = NonNullable<FastifyServerOptions['schemaController']>

const JSON_TYPE = 'application/json'

/**
 * Part of a request that a validator is for. `contentType` is set for a body with several types.
 */
interface RoutePart {
  readonly schema?: unknown
  readonly httpPart?: string
  readonly contentType?: string
}

/** Factories of validators and serializers. */
export const schemaController: SchemaController = {
  compilersFactory: {
    // Answers are serialized whole, without a schema. Fastify takes bytes as well as text.
    buildSerializer: () => () => serialize as (answer: unknown) => string,
    buildValidator(externalSchemas) {
      // Formats in route schemas are for readers only; patterns and bounds are enforced.
      const common = {
        strict: false,
        ownProperties: true,
        validateFormats: false,
        // The schemas are linted in the OpenAPI document. A meta-schema would take half of a start.
        validateSchema: false,
        // Errors can then list the members that exist.
        verbose: true,
      } as const
      const text = new Ajv({ ...common, coerceTypes: true, useDefaults: true })
      const json = new Ajv({ ...common, coerceTypes: false })
      for (const schema of Object.values(externalSchemas as Record<string, object>)) {
        text.addSchema(schema)
        json.addSchema(schema)
      }
      return ({ schema, httpPart, contentType }: RoutePart) => {
        // An opaque or raw body is read by its use case; its schema only documents it.
        const isOurs = contentType === undefined || contentType === JSON_TYPE
        if (OPAQUE in (schema as object) || !isOurs) return (() => true) as never
        if (httpPart === 'body') return bodyValidator(json.compile(schema as object)) as never
        if (httpPart === 'headers') return text.compile(inLowerCase(schema as object)) as never
        return textValidator(text.compile(schema as object), schema as ObjectSchema) as never
      }
    },
  },
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown }>>
}

/**
 * The only spelling of an integer in a query or path. `Number` would also read `0x5`, `1e2`, `1.0`,
 * `+5` and `05`.
 */
const PLAIN_INTEGER = /^(?:0|-?[1-9][0-9]*)$/

/** Coerces text as Ajv does, but takes only plain decimal digits for an integer. */
function textValidator(
  validate: ValidateFunction,
  { properties = {} }: ObjectSchema,
): (part: Record<string, unknown>) => boolean {
  const integers = Object.keys(properties).filter((name) => properties[name]?.type === 'integer')
  const validateText = (part: Record<string, unknown>): boolean => {
    for (const name of integers) {
      const written = part[name]
      // Ajv refuses NaN: it is no integer.
      if (typeof written === 'string' && !PLAIN_INTEGER.test(written)) part[name] = Number.NaN
    }
    const isValid = validate(part) as boolean
    validateText.errors = isValid ? null : validate.errors
    return isValid
  }
  validateText.errors = null as ValidateFunction['errors']
  return validateText
}

/** Validates a body, unless it is raw. */
function bodyValidator(validate: ValidateFunction): (body: unknown) => boolean {
  const validateBody = (body: unknown): boolean => {
    const isValid = body instanceof RawBody || validate(body)
    validateBody.errors = isValid ? null : validate.errors
    return isValid
  }
  validateBody.errors = null as ValidateFunction['errors']
  return validateBody
}

/** The schema with header names in lower case, as Node has them. */
function inLowerCase(schema: { readonly properties?: Readonly<Record<string, object>> }): object {
  const names = Object.entries(schema.properties ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ])
  return { ...schema, properties: Object.fromEntries(names) }
}

const PARTS: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the path',
  headers: 'the headers',
}

/** Sentence that says what is wrong with a request and what is expected. */
export function describeInvalid(errors: readonly ErrorObject[], part: string | undefined): string {
  const where = PARTS[part ?? 'body'] ?? 'the request'
  const error = errors[0]
  if (error === undefined) return `${sentenceStart(where)} is not as described.`
  const name = JSON.stringify(error.instancePath.slice(1).replaceAll('/', '.'))
  const at = error.instancePath === '' ? sentenceStart(where) : `${name} in ${where}`
  return `${at} ${describeError(error)}.`
}

const sentenceStart = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function describeError(error: ErrorObject): string {
  const { keyword, params, message, parentSchema } = error
  switch (keyword) {
    case 'additionalProperties':
      return describeUnknown(String(params['additionalProperty']), error)
    case 'required': {
      const lacks = `lacks the member ${JSON.stringify(params['missingProperty'])}`
      // The member may be there, misspelled.
      const unknown = unknownMember(error)
      return unknown === undefined ? lacks : `${lacks} and ${describeUnknown(unknown, error)}`
    }
    case 'enum': {
      const values = (params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value))
      return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
    }
    case 'type':
      return describeType(params['type'] as string | readonly string[])
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`
    case 'pattern':
      return `is not as it must be: ${String(parentSchema?.['description'] ?? message)}`.replace(
        /\.$/,
        '',
      )
    default:
      return message ?? 'is not as described'
  }
}

/** Words for a JSON Schema type, or for one of several. */
function describeType(type: string | readonly string[]): string {
  const types = [type].flat().map((name) => TYPES[name] ?? name)
  return `must be ${types.join(' or ')}`
}

const TYPES: Readonly<Record<string, string>> = {
  array: 'an array',
  boolean: 'true or false',
  integer: 'an integer',
  number: 'a number',
  object: 'an object',
  string: 'a string',
}

const membersIn = ({ parentSchema }: ErrorObject): readonly string[] =>
  Object.keys((parentSchema?.['properties'] as object | undefined) ?? {})

function describeUnknown(name: string, error: ErrorObject): string {
  const instead = error.parentSchema?.[INSTEAD] as string | undefined
  const there = `has the unknown member ${quote(name)}; ${knownText(membersIn(error))}`
  return instead === undefined ? there : `${there}. ${instead}`
}

function knownText(names: readonly string[]): string {
  if (names.length === 0) return 'it has no members'
  return names.length === 1 ? `the only one is ${names[0]}` : `there are ${names.join(', ')}`
}

/** First unknown member of an object whose schema lists all members. */
function unknownMember(error: ErrorObject): string | undefined {
  if (error.parentSchema?.['additionalProperties'] !== false) return undefined
  const known = membersIn(error)
  return Object.keys(error.data as object).find((name) => !known.includes(name))
}
