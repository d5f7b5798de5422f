/** Short descriptions of schemas, for messages that tell what a value could be instead. */
import { firstChars } from '../../core/text.ts'
import { SAMPLE_CHARS } from '../limits.ts'
import type { Holder, WrittenNumbers } from '../numbers/written-numbers.ts'
import { list, show } from '../quote-data.ts'
import { isObject } from '../tool-schema.ts'

/** A value as a list: itself if it is an array, else an array of it. */
export const asList = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : [value]

/** Descriptions of the alternatives of a rule. Null when none can be described shortly. */
export function outlines(rule: unknown, numbers: WrittenNumbers): string | null {
  const known = asList(rule).map((schema) => outline(schema, numbers) ?? 'other')
  return known.every((text) => text === 'other') ? null : known.join(' | ')
}

/** Short description of a schema. Undefined when its own keywords do not tell what it expects. */
export function outline(schema: unknown, numbers: WrittenNumbers): string | undefined {
  if (!isObject(schema)) return undefined
  if (Object.hasOwn(schema, 'const')) return showWritten(schema.const, numbers, schema, 'const')
  if (Array.isArray(schema.enum)) return `one of ${listWritten(schema.enum, numbers)}`
  const type = Object.hasOwn(schema, 'type') ? asList(schema.type).join(' or ') : undefined
  const required = schema.required
  if (type !== 'object' || !Array.isArray(required) || required.length === 0) return type
  return `object with ${list(required)}`
}

/** Shows the value at `key` of `holder`. A number is shown as it was written. */
export function showWritten(
  value: unknown,
  numbers: WrittenNumbers,
  holder: Holder,
  key: string | number,
): string {
  const token = typeof value === 'number' ? numbers.tokenOf(holder, key) : undefined
  return token === undefined ? show(value) : firstChars(token, SAMPLE_CHARS)
}

/** Lists the options of an `enum`. Numbers are shown as they were written. */
export const listWritten = (options: readonly unknown[], numbers: WrittenNumbers): string =>
  list(options, (option, i) => showWritten(option, numbers, options, i))
