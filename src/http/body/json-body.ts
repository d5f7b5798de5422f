/**
 * Reads bodies. They arrive as decoded bytes (`decoding.ts`); raw bodies are read by `raw-body.ts`.
 * A JSON body is scanned once. Members that the schema of the route marks as opaque hold callers'
 * JSON and stay slices of the bytes; other members become objects. A large body is read in a thread
 * of large calls (`large-calls.ts`).
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type TUnsafe, Type } from 'typebox'
import { CoatcheckError } from '../../core/errors.ts'
import { parseJson } from '../../core/json/scan.ts'
import { type JsonSlice, membersOf } from '../../core/json/slice.ts'
import { decodeRaw } from '../../core/json/strings.ts'
import { LargeWork } from '../../runs/context.ts'
import { foreignCharset, mediaOf } from './media.ts'
import { bodyTooLarge, declaredBytes, type RawBody, type RawLimits, readRaw } from './raw-body.ts'
import { joinPieces, takeBody } from './read-body.ts'
import { INSTEAD, OPAQUE } from './request-validation.ts'

/** Limits of bodies. */
export interface BodyLimits extends RawLimits {
  /** Most held bytes of all bodies (`memory-budget.ts`). One JSON body always has room. */
  readonly maxHeldBytes: number
  readonly maxDecompressionRatio: number
  readonly maxJsonDepthLevels: number
  /** Larger JSON bodies are read in a thread of large calls. */
  readonly inlineBytes: number
}

/** Schema of a member that holds any JSON of a caller. Its bytes are passed on unchanged. */
export function OpaqueJson(
  options: { description: string } & Record<string, unknown>,
): TUnsafe<JsonSlice> {
  return Type.Unsafe<JsonSlice>({ ...options, [OPAQUE]: true })
}

/**
 * Adds the readers: of JSON by the schema of its route, and of raw bodies for routes that take
 * them.
 */
export function addBodyParsers(app: FastifyInstance, limits: BodyLimits): void {
  app.removeAllContentTypeParsers()
  app.decorateRequest('wholeBody', undefined)
  app.addContentTypeParser(
    'application/json',
    (request: FastifyRequest, stream: Readable, done: Done) => {
      if (!isBare(request)) return takeJson(request, stream, { limits, done })
      takeBare(request, stream, limits).then((body) => done(null, body), done)
    },
  )
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: Readable) => {
    // Any body is empty and has been read (`bodyless.ts`).
    if (!takesBody(request)) return undefined
    requireRawRoute(request)
    const media = mediaOf(request.headers['content-type'])
    return readInline(request, await readRaw(media, sourceOf(request, stream), limits), limits)
  })
  // Fastify calls no parser without a body and a content type.
  app.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined && bodySchema(request) !== undefined)
      request.body = emptyBody(request)
    done()
  })
}

const sourceOf = ({ raw, heldBody: held }: FastifyRequest, stream: Readable) => ({
  stream,
  declaredBytes: declaredBytes(raw),
  held,
})

/** Whether a JSON body is the value itself, not an envelope. The query is not validated yet. */
function isBare(request: FastifyRequest): boolean {
  return takesRaw(request) && (request.query as { envelope?: unknown }).envelope === 'none'
}

/**
 * Reads a JSON document as a raw body. Throws what `mediaOf` and `readRaw` throw, and `LargeWork`.
 */
async function takeBare(
  request: FastifyRequest,
  stream: Readable,
  limits: BodyLimits,
): Promise<RawBody> {
  const { mediaType } = mediaOf(request.headers['content-type'])
  const body = await readRaw({ kind: 'json', mediaType }, sourceOf(request, stream), limits)
  return readInline(request, body, limits)
}

/** Returns the raw body. Throws `LargeWork` for a JSON document too large for this thread. */
function readInline(request: FastifyRequest, body: RawBody, limits: BodyLimits): RawBody {
  const { media, content } = body
  if (media.kind !== 'json' || !Buffer.isBuffer(content)) return body
  request.wholeBody = content
  requireInline(request, content, limits)
  return body
}

/** Value of an empty body: `{}` if the route allows it. Throws `invalid_request` otherwise. */
function emptyBody(request: FastifyRequest): object {
  if (request.routeOptions.config.bodyOptional === true) return {}
  const needed = takesRaw(request)
    ? 'a put needs an envelope (application/json), or a raw body with its content type'
    : 'this call needs a JSON object'
  throw new CoatcheckError('invalid_request', `The body is empty; ${needed}.`)
}

type Done = (error: Error | null, body?: unknown) => void

interface Taking {
  readonly limits: BodyLimits
  readonly done: Done
}

/** Takes a whole JSON body, then reads it. */
function takeJson(request: FastifyRequest, stream: Readable, { limits, done }: Taking): void {
  const { raw, heldBody: held } = request
  const maxBytes = limits.maxJsonBodyBytes
  const declared = Number(raw.headers['content-length'] ?? 0)
  settle(done, () => {
    // Checked for an encoded body too: decoded it is hardly smaller.
    if (declared > maxBytes) throw bodyTooLarge('json_body_bytes', maxBytes)
    held?.requireRoom(declared)
    takeBody(stream, { maxBytes, held }, (error, taken) =>
      settle(done, () => {
        if (taken === undefined) throw error
        if (!taken.ended) throw bodyTooLarge('json_body_bytes', maxBytes)
        done(null, readJsonBody(request, joinPieces(taken.pieces, stream), limits))
      }),
    )
  })
}

/** Throws `LargeWork` for a body too large for this thread. */
function requireInline(
  { routeOptions }: FastifyRequest,
  { length }: Buffer,
  { inlineBytes }: BodyLimits,
): void {
  const { inlineTimes = 1 } = routeOptions.config
  if (length > inlineTimes * inlineBytes) throw new LargeWork()
}

function settle(done: Done, work: () => void): void {
  try {
    work()
  } catch (error) {
    done(error as Error)
  }
}

function readJsonBody(request: FastifyRequest, body: Buffer, limits: BodyLimits): unknown {
  const charset = foreignCharset(request.headers['content-type'])
  if (charset !== undefined) {
    throw new CoatcheckError(
      'unsupported_media_type',
      `The charset ${JSON.stringify(charset)} is not UTF-8. Send application/json in UTF-8; a put also takes text/plain and other types, in UTF-8 too.`,
    )
  }
  const schema = bodySchema(request)
  if (schema === undefined) return undefined
  if (body.length === 0) return emptyBody(request)
  request.wholeBody = body
  requireInline(request, body, limits)
  const document = parseJson(body, limits.maxJsonDepthLevels, 'entries')
  if (schema[OPAQUE] === true) return document
  if (document.kind !== 'object') {
    const instead = schema[INSTEAD] === undefined ? '' : ` ${schema[INSTEAD]}.`
    throw new CoatcheckError(
      'invalid_request',
      `The body is a JSON ${document.kind}; it must be an object.${instead}`,
    )
  }
  return readBySchema(document, schema)
}

/** Whether the route takes a body. */
export const takesBody = (request: FastifyRequest): boolean =>
  bodySchema(request) !== undefined || takesRaw(request)

const takesRaw = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.rawBody === true

function requireRawRoute(request: FastifyRequest): void {
  if (takesRaw(request)) return
  const type = request.headers['content-type'] ?? 'none'
  const hint = type.startsWith(FORM) ? ` (with curl, add -H 'content-type: application/json')` : ''
  throw new CoatcheckError(
    'unsupported_media_type',
    `The content type is ${JSON.stringify(type)}; this call takes application/json${hint}.`,
  )
}

/** Content type that curl sends when it is given none. */
const FORM = 'application/x-www-form-urlencoded'

/** Unknown members after which reading stops, since validation refuses the body anyway. */
const UNKNOWN_MEMBERS = 100

const SCALARS: readonly string[] = ['string', 'integer', 'number', 'boolean', 'null']

interface SchemaNode {
  readonly [OPAQUE]?: boolean
  readonly [INSTEAD]?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  /** `false` when `properties` lists all members. */
  readonly additionalProperties?: boolean | SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly content?: Readonly<Record<string, { readonly schema: SchemaNode }>>
}

/** Schema of a call's JSON body; undefined when it takes none. */
function bodySchema(request: FastifyRequest): SchemaNode | undefined {
  const schema = request.routeOptions.schema?.body as SchemaNode | undefined
  return schema?.content === undefined ? schema : schema.content['application/json']?.schema
}

/** Reads an object, with slices for opaque members. Unknown members become null for validation. */
function readBySchema(value: JsonSlice, schema: SchemaNode): unknown {
  if (schema[OPAQUE] === true) return value
  const shape = value.kind === 'object' ? objectShape(schema) : undefined
  if (shape === undefined) return readLeaf(value, schema)
  const object = Object.create(null) as Record<string, unknown>
  let unknown = 0
  for (const { key, value: member } of membersOf(value)) {
    if (unknown > UNKNOWN_MEMBERS) break
    const name = decodeRaw(key)
    if (Object.hasOwn(object, name)) {
      throw new CoatcheckError(
        'invalid_request',
        `The body has the member ${JSON.stringify(name)} twice.`,
      )
    }
    const inner = memberSchema(shape, name)
    if (inner === undefined) unknown++
    object[name] = inner === undefined ? null : readBySchema(member, inner)
  }
  return object
}

/** Reads a value. A container in place of a scalar is not read; its kind is enough to refuse it. */
function readLeaf(value: JsonSlice, schema: SchemaNode): unknown {
  if (value.kind === 'null') return null
  if (isScalar(schema) && value.kind === 'array') return []
  if (isScalar(schema) && value.kind === 'object') return {}
  return JSON.parse(value.toString()) as unknown
}

function isScalar(schema: SchemaNode): boolean {
  if (schema.anyOf !== undefined) return schema.anyOf.every(isScalar)
  return schema.enum !== undefined || SCALARS.includes(schema.type ?? '')
}

function objectShape(schema: SchemaNode): SchemaNode | undefined {
  if (schema.anyOf !== undefined)
    return schema.anyOf.map(objectShape).find((shape) => shape !== undefined)
  return schema.properties === undefined && typeof schema.additionalProperties !== 'object'
    ? undefined
    : schema
}

function memberSchema(shape: SchemaNode, name: string): SchemaNode | undefined {
  if (shape.properties !== undefined) {
    return Object.hasOwn(shape.properties, name) ? shape.properties[name] : undefined
  }
  return typeof shape.additionalProperties === 'object' ? shape.additionalProperties : undefined
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for a route that takes any content type as a `RawBody`. */
    rawBody?: boolean
    /** True when an empty JSON body counts as `{}`. */
    bodyOptional?: boolean
    /** Factor on the size that this thread reads, for a route that works in several turns. */
    inlineTimes?: number
  }
}
