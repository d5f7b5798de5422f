/** Short descriptions of schemas, for messages that tell what a value could be instead. */
import { list, show } from '../quote-data.ts'
import { isObject } from '../tool-schema.ts'

/** A value as a list: itself if it is an array, else an array of it. */
export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [value]

/** Descriptions of the alternatives of a rule. Null when none can be described shortly. */
export function outlines(rule: unknown): string | null {
  const known = asList(rule).map((schema) => outline(schema) ?? 'other')
  return known.every((text) => text === 'other') ? null : known.join(' | ')
}

/** Short description of a schema. Undefined when its own keywords do not tell what it expects. */
export function outline(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'const')) return show(schema.const)
  if (Array.isArray(schema.enum)) return `one of ${list(schema.enum)}`
  const type = Object.hasOwn(schema, 'type') ? asList(schema.type).join(' or ') : undefined
  const required = schema.required
  if (type !== 'object' || !Array.isArray(required) || required.length === 0) return type
  return `object with ${list(required)}`
}
