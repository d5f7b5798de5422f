/**
 * Schemas in a few words, for messages that say what a value could be instead.
 */
import { list, show } from '../quote-data.ts'
import { isObject } from '../tool-schema.ts'

export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [value]

/** The alternatives of a rule, or null when none of them can be told shortly. */
export function outlines(rule: unknown): string | null {
  const known = asList(rule).map((schema) => outline(schema) ?? 'other')
  return known.every((text) => text === 'other') ? null : known.join(' | ')
}

/** A schema in a few words, when its own keywords say what it wants. */
export function outline(schema: unknown): string | undefined {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'const')) return show(schema.const)
  if (Array.isArray(schema.enum)) return `one of ${list(schema.enum)}`
  const type = Object.hasOwn(schema, 'type') ? asList(schema.type).join(' or ') : undefined
  const required = schema.required
  if (type !== 'object' || !Array.isArray(required) || required.length === 0) return type
  return `object with ${list(required)}`
}
