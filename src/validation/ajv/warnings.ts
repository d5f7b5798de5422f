/**
 * Warnings about parts of a schema that have no effect, or another effect than they seem to.
 * Callers' schemas often have keywords and formats of other dialects and vendors. They are
 * accepted, but reported, since a misspelled keyword would otherwise go unnoticed.
 */
import type { Ajv } from 'ajv'
import { pointerEscape } from '../../core/json/path.ts'
import { ERROR_PATH_BYTES, WARNING_NAME_BYTES, WARNINGS_SHOWN } from '../limits.ts'
import { needsPlainMode } from '../patterns.ts'
import { clip, quote } from '../quote-data.ts'
import { isObject, placesOf, type SchemaObject, type SchemaPlace } from '../tool-schema.ts'
import type { SchemaWarning } from '../validator.ts'

/** Keyword that is read with the references and is unknown to Ajv. */
const ANCHOR = '$anchor'

/**
 * The first {@link WARNINGS_SHOWN} warnings in document order. Unknown keywords are not searched.
 */
export function warningsOf(schema: SchemaObject | boolean, ajv: Ajv): readonly SchemaWarning[] {
  if (typeof schema === 'boolean') return []
  const isKnown = (keyword: string): boolean =>
    keyword === ANCHOR || Object.hasOwn(ajv.RULES.keywords, keyword)
  const warnings: SchemaWarning[] = []
  for (const place of placesOf(schema, isKnown)) {
    for (const keyword of Object.keys(place.schema)) {
      if (!isKnown(keyword)) warnings.push(unknownKeyword(place, keyword))
    }
    const { format } = place.schema
    if (typeof format === 'string' && !Object.hasOwn(ajv.formats, format))
      warnings.push(unknownFormat(place, format))
    warnings.push(...patternWarnings(place))
    if (warnings.length >= WARNINGS_SHOWN) break
  }
  return warnings.slice(0, WARNINGS_SHOWN)
}

function patternWarnings({ schema, pointer }: SchemaPlace): readonly SchemaWarning[] {
  const { pattern, patternProperties } = schema
  const own = typeof pattern === 'string' ? [[pattern, `${pointer}/pattern`] as const] : []
  const names = isObject(patternProperties) ? Object.keys(patternProperties) : []
  const ofNames = names.map(
    (name) => [name, `${pointer}/patternProperties/${pointerEscape(name)}`] as const,
  )
  return [...own, ...ofNames]
    .filter(([expression]) => needsPlainMode(expression))
    .map(([expression, at]) => ({
      code: 'non_unicode_pattern',
      message: `${quote(clip(expression, WARNING_NAME_BYTES))} is no regular expression in Unicode mode and is read without that mode. An escape that JavaScript does not know then stands for the letter itself`,
      schema_path: clip(`#${at}`, ERROR_PATH_BYTES),
    }))
}

const unknownKeyword = (place: SchemaPlace, keyword: string): SchemaWarning => ({
  code: 'unknown_keyword',
  message: `${quote(clip(keyword, WARNING_NAME_BYTES))} is no keyword of this dialect and has no effect`,
  schema_path: clip(`#${place.pointer}/${pointerEscape(keyword)}`, ERROR_PATH_BYTES),
})

const unknownFormat = (place: SchemaPlace, format: string): SchemaWarning => ({
  code: 'unknown_format',
  message: `${quote(clip(format, WARNING_NAME_BYTES))} is not a known format and is not checked`,
  schema_path: clip(`#${place.pointer}/format`, ERROR_PATH_BYTES),
})
