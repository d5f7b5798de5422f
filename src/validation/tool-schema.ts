/**
 * Callers' schemas as parsed objects: their dialect, their subschemas, and keywords that Ajv
 * misreads. The meta-schemas check whether a schema is well-formed.
 */
import { CoatcheckError } from '../core/errors.ts'
import { pointerEscape } from '../core/json/path.ts'
import { ERROR_PATH_BYTES } from './limits.ts'
import { clip, quote } from './quote-data.ts'

/** A schema object, with the keywords that are read here by name. */
export interface SchemaObject {
  [keyword: string]: unknown
  $async?: unknown
  $comment?: unknown
  $dynamicRef?: unknown
  $id?: unknown
  $recursiveRef?: unknown
  $ref?: unknown
  $schema?: unknown
  const?: unknown
  enum?: unknown
  nullable?: unknown
  pattern?: unknown
  patternProperties?: unknown
  properties?: unknown
  required?: unknown
  type?: unknown
}

/** Dialect of JSON Schema. Draft-06 is read as draft-07. */
export type Dialect = 'draft-07' | '2019-09' | '2020-12'

/** A subschema and its JSON Pointer. */
export interface SchemaPlace {
  readonly schema: SchemaObject
  readonly pointer: string
}

const DIALECTS: ReadonlyMap<string, Dialect> = new Map([
  ['json-schema.org/draft-06/schema', 'draft-07'],
  ['json-schema.org/draft-07/schema', 'draft-07'],
  ['json-schema.org/draft/2019-09/schema', '2019-09'],
  ['json-schema.org/draft/2020-12/schema', '2020-12'],
  ['json-schema.org/schema', '2020-12'],
])
const SCHEMA_URI = /^https?:\/\/(?:www\.)?|[#/]+$/g
const DRAFT_04 = 'json-schema.org/draft-04/schema'

const DATA_KEYWORDS: ReadonlySet<string> = new Set([
  'const',
  'enum',
  'default',
  'example',
  'examples',
])
const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  '$defs',
  'definitions',
  'dependencies',
  'dependentRequired',
  'dependentSchemas',
  'patternProperties',
  'properties',
])

const DYNAMIC_REFERENCES = ['$dynamicRef', '$recursiveRef'] as const

/** Property name that Ajv leaves out of `properties`. In `patternProperties` it accepts it. */
const PROTO = '__proto__'
const PROTO_PATTERN = '^(?:__proto__)$'

/** Whether a value is an object, that is neither an array nor null. */
export const isObject = (value: unknown): value is SchemaObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Makes an `invalid_schema`. `reason` completes "The schema …"; `pointer` is the JSON Pointer of
 * the place.
 */
export function invalidSchema(
  reason: string,
  pointer?: string,
  facts: Readonly<Record<string, string>> = {},
): CoatcheckError {
  const place = pointer === undefined ? {} : { schema_path: clip(`#${pointer}`, ERROR_PATH_BYTES) }
  return new CoatcheckError('invalid_schema', `The schema ${reason}`, { ...place, ...facts })
}

/**
 * Dialect that `$schema` names, in any spelling of its URI. When `$schema` names a meta-schema
 * inside `schema`, the dialect of that meta-schema. 2020-12 without `$schema`. Throws
 * `invalid_schema` for any other.
 */
export function dialectOf(schema: SchemaObject): Dialect {
  if (!Object.hasOwn(schema, '$schema')) return '2020-12'
  const named = schema.$schema
  if (typeof named !== 'string') {
    throw invalidSchema('has a "$schema" that is not a string.', '/$schema')
  }
  const uri = plainUri(named)
  const dialect = DIALECTS.get(uri) ?? dialectOfEmbedded(uri, schema)
  if (dialect !== undefined) return dialect
  const supported =
    'Supported are draft-06, draft-07, 2019-09 and 2020-12; leave "$schema" out for 2020-12.'
  const reason =
    uri === DRAFT_04
      ? `is in draft-04, which is not supported. Turn "id" into "$id" and boolean "exclusiveMinimum" and "exclusiveMaximum" into numbers, and declare "http://json-schema.org/draft-07/schema#".`
      : `names an unsupported dialect in "$schema": ${quote(named)}. ${supported}`
  throw invalidSchema(reason, '/$schema', { dialect: clip(named, ERROR_PATH_BYTES) })
}

const plainUri = (uri: string): string => uri.trim().toLowerCase().replaceAll(SCHEMA_URI, '')

/** Dialect of the part of `root` whose `$id` is `uri`. Its `$vocabulary` is ignored. */
function dialectOfEmbedded(uri: string, root: SchemaObject): Dialect | undefined {
  const isNamed = ({ $id }: SchemaObject) => typeof $id === 'string' && plainUri($id) === uri
  const metaSchema = placesOf(root).find(({ schema }) => isNamed(schema))?.schema
  const base = metaSchema?.$schema
  return typeof base === 'string' ? DIALECTS.get(plainUri(base)) : undefined
}

const everyKeyword = (): boolean => true

/**
 * Every subschema in document order, the root first. `looksInto` decides which keywords are
 * searched. By default unknown keywords are searched too, since references may lead there.
 */
export function placesOf(
  root: SchemaObject,
  looksInto: (keyword: string) => boolean = everyKeyword,
): readonly SchemaPlace[] {
  const places: SchemaPlace[] = []
  const open: SchemaPlace[] = [{ schema: root, pointer: '' }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    places.push(place)
    for (const child of childrenOf(place, looksInto).reverse()) open.push(child)
  }
  return places
}

function childrenOf(
  { schema, pointer }: SchemaPlace,
  looksInto: (keyword: string) => boolean,
): SchemaPlace[] {
  const children: SchemaPlace[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword) || !looksInto(keyword)) continue
    for (const [child, at] of candidatesIn(keyword, value)) {
      if (isObject(child)) children.push({ schema: child, pointer: `${pointer}/${at}` })
    }
  }
  return children
}

/** Possible subschemas under a keyword, each with its pointer relative to the schema. */
function candidatesIn(keyword: string, value: unknown): (readonly [child: unknown, at: string])[] {
  const at = pointerEscape(keyword)
  if (Array.isArray(value)) return value.map((child, i) => [child, `${at}/${i}`])
  if (!MAP_KEYWORDS.has(keyword) || !isObject(value)) return [[value, at]]
  return Object.entries(value).map(([name, child]) => {
    if (name === PROTO_PATTERN) return [child, `properties/${PROTO}`]
    return [child, `${at}/${pointerEscape(name)}`]
  })
}

/**
 * Changes `root` in place so that Ajv reads it correctly. Removes `nullable` without a type and
 * `$async`, and moves a property named `__proto__` to `patternProperties`. Throws `invalid_schema`
 * for references that Ajv would misread.
 */
export function makeDigestible(root: SchemaObject): void {
  for (const { schema, pointer } of placesOf(root)) {
    const isNullableType = schema.nullable === true && Object.hasOwn(schema, 'type')
    if (!isNullableType) delete schema.nullable
    delete schema.$async
    requireReadable(schema, pointer)
    // Ajv follows the reference of a subschema that has no other keyword. When the reference leads
    // into that same subschema, it never ends. A comment as another keyword prevents that.
    if (typeof schema.$ref === 'string' && typeof schema.$id === 'string') schema.$comment ??= ''
    moveProto(schema)
  }
}

/** Makes an `invalid_schema` for a reference without a target. */
export function unresolved(ref: string, pointer: string | undefined): CoatcheckError {
  const reason = `refers to ${quote(ref)}, which is not in it. Nothing is fetched: put what it refers to under "$defs", and refer to that.`
  return invalidSchema(reason, pointer, { reference: clip(ref, ERROR_PATH_BYTES) })
}

/** Throws `invalid_schema` for a reference that Ajv would take for another. */
function requireReadable(schema: SchemaObject, pointer: string): void {
  const { $ref } = schema
  // It names the member with the empty name; Ajv takes it for the root.
  if (typeof $ref === 'string' && $ref.endsWith('#/')) throw unresolved($ref, `${pointer}/$ref`)
  for (const keyword of DYNAMIC_REFERENCES) {
    const ref = schema[keyword]
    if (typeof ref === 'string' && ref.slice(1) in Object.prototype)
      throw unresolved(ref, `${pointer}/${keyword}`)
  }
}

function moveProto(schema: SchemaObject): void {
  const properties = schema.properties
  if (!isObject(properties) || !Object.hasOwn(properties, PROTO)) return
  const patterns = schema.patternProperties
  schema.patternProperties = {
    ...(isObject(patterns) ? patterns : {}),
    [PROTO_PATTERN]: properties[PROTO],
  }
  delete properties[PROTO]
}
