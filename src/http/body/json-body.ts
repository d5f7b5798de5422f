/**
 * Bodies. They are taken as bytes and decoded (`decoding.ts`), raw ones as `raw-body.ts` says. A JSON body is scanned once. Its
 * members that hold callers' JSON, which the route's schema marks as opaque, stay slices of those bytes; only the members that
 * are ours become objects. A large one is not read here (`large-calls.ts`).
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

export interface BodyLimits extends RawLimits {
  /** What is held of all bodies together, see `memory-budget.ts`; one JSON body has room in any case. */
  readonly maxHeldBytes: number
  readonly maxDecompressionRatio: number
  readonly maxJsonDepthLevels: number
  /** Larger JSON bodies are read in a thread of large calls. */
  readonly inlineBytes: number
}

/** The schema of a member that holds any JSON of a caller's and is passed on byte for byte. */
export function OpaqueJson(
  options: { description: string } & Record<string, unknown>,
): TUnsafe<JsonSlice> {
  return Type.Unsafe<JsonSlice>({ ...options, [OPAQUE]: true })
}

/** Reads JSON whole, by the schema of its route, and anything else only where a route takes it. */
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
    // Its body, if any, is empty and was read (`bodyless.ts`).
    if (!takesBody(request)) return undefined
    requireRawRoute(request)
    const media = mediaOf(request.headers['content-type'])
    return readInline(request, await readRaw(media, sourceOf(request, stream), limits), limits)
  })
  // No parser is asked when there is neither a body nor a content type.
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

/** Whether a JSON body is the value itself, and no envelope. The query is not validated yet. */
function isBare(request: FastifyRequest): boolean {
  return takesRaw(request) && (request.query as { envelope?: unknown }).envelope === 'none'
}

/** A JSON document as a raw body. Throws `invalid_request` when it is empty, and what `mediaOf` and `readRaw` throw. */
async function takeBare(
  request: FastifyRequest,
  stream: Readable,
  limits: BodyLimits,
): Promise<RawBody> {
  const { mediaType } = mediaOf(request.headers['content-type'])
  const body = await readRaw({ kind: 'json', mediaType }, sourceOf(request, stream), limits)
  return readInline(request, body, limits)
}

/** A raw body. Throws `LargeWork` for a JSON document that is not to be read in this thread. */
function readInline(request: FastifyRequest, body: RawBody, limits: BodyLimits): RawBody {
  const { media, content } = body
  if (media.kind !== 'json' || !Buffer.isBuffer(content)) return body
  request.wholeBody = content
  requireInline(request, content, limits)
  return body
}

/** What an empty body stands for. */
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

/** All of a JSON body, read when it is there. */
function takeJson(request: FastifyRequest, stream: Readable, { limits, done }: Taking): void {
  const { raw, heldBody: held } = request
  const maxBytes = limits.maxJsonBodyBytes
  const declared = Number(raw.headers['content-length'] ?? 0)
  settle(done, () => {
    // of an encoded one, too: it is hardly smaller when it is decoded
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

/** Throws `LargeWork` for a body that is not to be read in this thread. */
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

/** Whether the route has a body at all. */
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

/** What curl says of any body that it is not told the type of. */
const FORM = 'application/x-www-form-urlencoded'

/** After so many the rest is not read: validation refuses the body anyway. */
const UNKNOWN_MEMBERS = 100

const SCALARS: readonly string[] = ['string', 'integer', 'number', 'boolean', 'null']

interface SchemaNode {
  readonly [OPAQUE]?: boolean
  readonly [INSTEAD]?: string
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, SchemaNode>>
  /** `false` where there are only the properties. */
  readonly additionalProperties?: boolean | SchemaNode
  readonly anyOf?: readonly SchemaNode[]
  readonly content?: Readonly<Record<string, { readonly schema: SchemaNode }>>
}

/** What a call's JSON body has to be; undefined where it takes none. */
function bodySchema(request: FastifyRequest): SchemaNode | undefined {
  const schema = request.routeOptions.schema?.body as SchemaNode | undefined
  return schema?.content === undefined ? schema : schema.content['application/json']?.schema
}

/** An object of ours, with slices where the schema is opaque. Unknown members become null: validation names them. */
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

/** A value of ours. Where only a scalar can be, a container is refused by its kind, however large, without being read. */
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
    /** The route takes any content type, as a `RawBody`. */
    rawBody?: boolean
    /** An empty JSON body counts as `{}`. */
    bodyOptional?: boolean
    /** A route that works on a body in several turns takes those that are so many times as large as others. */
    inlineTimes?: number
  }
}
