import { CoatcheckError } from '../../src/core/errors.ts'
import { JsonSlice } from '../../src/core/json/slice.ts'
import { AjvValidator } from '../../src/validation/ajv/ajv-validator.ts'
import type { Validation, ValidationError } from '../../src/validation/validator.ts'

export const json = (text: string): JsonSlice => new JsonSlice(Buffer.from(text))
export const slice = (value: unknown): JsonSlice => json(JSON.stringify(value))

/** What a new validator says of one value. */
export function judge(schema: unknown, value: unknown): Promise<Validation> {
  return new AjvValidator().validate(slice(schema), slice(value))
}

/** What a new validator throws for a schema. */
export async function refusal(schema: unknown): Promise<CoatcheckError> {
  try {
    await new AjvValidator().compile(slice(schema))
  } catch (error) {
    if (error instanceof CoatcheckError) return error
    throw error
  }
  throw new Error('the schema compiled')
}

export const property = (schema: unknown): object => ({ type: 'object', properties: { x: schema } })

/** Path, code and message of every error. */
export function said(validation: Validation): readonly string[] {
  return validation.errors.map(({ path, code, message }) => `${path} ${code}: ${message}`)
}

/** The one error that a value has. */
export async function one(schema: unknown, value: unknown): Promise<ValidationError> {
  const { errors, errorsTotal } = await judge(schema, value)
  const [error] = errors
  if (error === undefined || errorsTotal !== 1) throw new Error(`${errorsTotal} errors, not one`)
  return error
}
