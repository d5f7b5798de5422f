// The document's schemas as validators.
import { Ajv2020, type AnySchema, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { OpenApiDocument } from '../../src/http/docs/openapi-document.ts'

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
