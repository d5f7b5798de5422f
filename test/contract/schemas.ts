// The document's schemas as validators, and its responses without references.
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument, Operation } from '../../src/http/docs/openapi-document.ts'
import type { Response } from '../../src/http/docs/shared-responses.ts'

/** What is wrong with a value by a schema of the document; empty when nothing is. */
export type Complain = (schema: unknown, value: unknown) => readonly string[]

export function complainer({ components }: OpenApiDocument): Complain {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
  addFormats.default(ajv)
  const compiled = new Map<string, ValidateFunction>()
  return (schema, value) => {
    const key = JSON.stringify(schema)
    const validate =
      compiled.get(key) ?? ajv.compile({ ...(schema as object), components } as AnySchema)
    compiled.set(key, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
  }
}

/** The responses of an operation by status, those of `components.responses` in place of the references to them. */
export function responsesOf(
  { responses }: Operation,
  { components }: OpenApiDocument,
): Readonly<Record<string, Response>> {
  const shared = components.responses ?? {}
  const resolved = Object.entries(responses).map(([status, response]) => {
    if (response.$ref === undefined) return [status, response] as const
    const name = response.$ref.replace('#/components/responses/', '')
    const target = shared[name]
    if (target === undefined) throw new Error(`there is no ${response.$ref}`)
    return [status, target] as const
  })
  return Object.fromEntries(resolved)
}
