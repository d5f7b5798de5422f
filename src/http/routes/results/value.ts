/**
 * The raw read: bytes of a value with their media type, whole or in part. They are streamed from
 * the ledger and are safe to open in a browser.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../../core/errors.ts'
import { handleOf } from '../../../core/handles.ts'
import type { JsonSlice } from '../../../core/json/slice.ts'
import { planValue, renderView, type ViewSource } from '../../../core/view/view.ts'
import type { Result } from '../../../ledger/ledger.ts'
import type { RunContext } from '../../../runs/context.ts'
import { findSlice, type SliceQuery, valueBytes, viewBytes } from '../../../runs/results.ts'
import { sendPieces } from '../../reply/reply.ts'
import type { ValueQuery } from './value-schemas.ts'

const TEXT_TYPE = 'text/plain; charset=utf-8'
/** Media types that a browser would run. */
const ACTIVE =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|text\/xml|application\/xml)\b/i

/** Bytes that a request can read: the value, a slice or a text view. */
interface Part {
  readonly type: string
  readonly etag: string
  readonly totalBytes: number
  readonly read: (span: { readonly start: number; readonly end: number }) => AsyncIterable<Buffer>
}

/**
 * Answers a raw read. Throws `invalid_request`, `path_not_found`, `no_text_view`,
 * `range_not_satisfiable`, and `LargeWork` when a slice needs more work than this thread may do.
 */
export async function sendValue(
  context: RunContext,
  result: Result,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const part = await partOf(context, result, request.query as ValueQuery)
  reply.headers({
    etag: part.etag,
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'content-disposition': `${ACTIVE.test(part.type) ? 'attachment' : 'inline'}; filename="${handleOf(result.number)}"`,
  })
  if (matches(request.headers['if-none-match'], part.etag)) {
    // An answer to HEAD without a payload would get a content-length of 0.
    return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined)
  }
  const span = spanOf(request, part)
  if (span === undefined) {
    reply.header('content-range', `bytes */${part.totalBytes}`)
    throw new CoatcheckError(
      'range_not_satisfiable',
      `The range ${JSON.stringify(request.headers.range)} lies outside the value, which has ${part.totalBytes} bytes.`,
    )
  }
  reply.type(part.type)
  if (span.partial) {
    reply
      .code(206)
      .header('content-range', `bytes ${span.start}-${span.end - 1}/${part.totalBytes}`)
  }
  const totalBytes = span.end - span.start
  // HEAD: no bytes are read. Without a payload the content-length would be 0.
  if (request.method === 'HEAD') {
    return reply.header('content-length', totalBytes).send(Readable.from([]))
  }
  return sendPieces(reply, part.read(span), totalBytes)
}

async function partOf(context: RunContext, result: Result, query: ValueQuery): Promise<Part> {
  const sliced = sliceQuery(query)
  if (sliced !== undefined) return slicePart(context, result, sliced, query.as === 'text')
  const { mediaType, totalBytes, sha256 } = result
  if (query.as === undefined) {
    const read: Part['read'] = (span) => valueBytes(context, result, span)
    return { type: mediaType, etag: `"${sha256}"`, totalBytes, read }
  }
  if (result.totalChars === null) {
    throw new CoatcheckError('no_text_view', 'A binary has no text view; read it without as=text.')
  }
  const read: Part['read'] = (span) => viewBytes(context, result, span)
  return { type: TEXT_TYPE, etag: `"${sha256};text"`, totalBytes: result.viewBytes, read }
}

function sliceQuery({ path, pointer }: ValueQuery): SliceQuery | undefined {
  if (path !== undefined && pointer !== undefined) {
    throw new CoatcheckError('invalid_request', 'Give either "path" or "pointer", not both.')
  }
  if (path !== undefined) return { path }
  return pointer === undefined ? undefined : { pointer }
}

async function slicePart(
  context: RunContext,
  result: Result,
  query: SliceQuery,
  asText: boolean,
): Promise<Part> {
  const slice = await findSlice(context, result, query)
  const place = `${result.sha256};${slice.start}-${slice.end - 1}`
  if (asText) return textPart(slice, place)
  const { start: first } = slice
  return {
    type: 'application/json',
    etag: `"${place}"`,
    totalBytes: slice.end - first,
    // The slice is read again at the client's pace: the parsed value need not stay in memory.
    read: ({ start, end }) =>
      valueBytes(context, result, { start: first + start, end: first + end }),
  }
}

/** Text view of a slice, rendered by chunks since it can be far larger than the slice. */
function textPart(slice: JsonSlice, place: string): Part {
  const bytes = Buffer.from(slice.source)
  const view: ViewSource =
    slice.kind === 'string'
      ? { form: 'string', start: 1, end: bytes.length - 1 }
      : { form: 'json', start: 0, end: bytes.length }
  const plan = planValue(bytes, view)
  async function* pieces(): AsyncGenerator<Buffer> {
    for (const { firstByte, endByte, state } of plan.chunks) {
      yield renderView({ bytes: bytes.subarray(firstByte, endByte), firstByte, state }, view)
    }
  }
  return {
    type: TEXT_TYPE,
    etag: `"${place};text"`,
    totalBytes: plan.view.bytes,
    read: (span) => clipped(pieces(), span),
  }
}

/** Bytes `[start, end)` of the joined pieces. */
async function* clipped(
  pieces: AsyncIterable<Buffer>,
  { start, end }: { readonly start: number; readonly end: number },
): AsyncGenerator<Buffer> {
  let pos = 0
  for await (const piece of pieces) {
    const from = Math.max(0, start - pos)
    const until = Math.min(piece.length, end - pos)
    if (until > from) yield piece.subarray(from, until)
    pos += piece.length
    if (pos >= end) return
  }
}

/** Bytes to send: `[start, end)`. */
interface ByteSpan {
  readonly start: number
  readonly end: number
  readonly partial: boolean
}

const RANGE = /^bytes=([0-9]*)-([0-9]*)$/i

/**
 * Byte range that the request asks for. Undefined when it lies outside the bytes. As in RFC 9110,
 * anything but one well-formed range of bytes stands for all bytes. So does any range of a HEAD,
 * and one whose `If-Range` no longer holds.
 */
function spanOf(request: FastifyRequest, { etag, totalBytes }: Part): ByteSpan | undefined {
  const whole = { start: 0, end: totalBytes, partial: false }
  const { range, 'if-range': ifRange } = request.headers
  const [, first = '', last = ''] = RANGE.exec(range ?? '') ?? []
  const isAsked = request.method === 'GET' && (ifRange === undefined || ifRange === etag)
  if (!isAsked || first + last === '') return whole
  if (first === '') {
    const start = Math.max(0, totalBytes - Number(last))
    return start < totalBytes ? { start, end: totalBytes, partial: true } : undefined
  }
  const end = last === '' ? totalBytes : Math.min(totalBytes, Number(last) + 1)
  if (last !== '' && Number(last) < Number(first)) return whole
  return Number(first) < totalBytes ? { start: Number(first), end, partial: true } : undefined
}

/** Whether an `if-none-match` header holds for the ETag. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header
    .split(',')
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
