/**
 * The raw read: a value's bytes with their type, whole or a part, streamed from the ledger; safe to open in a browser.
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
/** Types that a browser would run. */
const ACTIVE =
  /^(?:text\/html|application\/xhtml\+xml|image\/svg\+xml|text\/xml|application\/xml)\b/i

interface Part {
  readonly type: string
  readonly etag: string
  readonly totalBytes: number
  readonly read: (span: { readonly start: number; readonly end: number }) => AsyncIterable<Buffer>
}

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
    // Without a payload, that of a HEAD would be told a length of 0.
    return reply.code(304).send(request.method === 'HEAD' ? Readable.from([]) : undefined)
  }
  const span = spanOf(request, part)
  if (span === undefined) {
    reply.header('content-range', `bytes */${part.totalBytes}`)
    throw new CoatcheckError(
      'range_not_satisfiable',
      `The range ${JSON.stringify(request.headers.range)} lies outside the ${part.totalBytes} bytes there are.`,
    )
  }
  reply.type(part.type)
  if (span.partial) {
    reply
      .code(206)
      .header('content-range', `bytes ${span.start}-${span.end - 1}/${part.totalBytes}`)
  }
  const totalBytes = span.end - span.start
  // For HEAD all would be read and dropped; without a payload the length would be taken for 0.
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
    // Read again, by a client's pace: what the slice was found in is not held meanwhile.
    read: ({ start, end }) =>
      valueBytes(context, result, { start: first + start, end: first + end }),
  }
}

/** The text view of a slice, a chunk at a time: it can be far larger than the slice. */
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

interface ByteSpan {
  readonly start: number
  readonly end: number
  readonly partial: boolean
}

const RANGE = /^bytes=([0-9]*)-([0-9]*)$/i

/**
 * The one byte range that is asked for, or everything; undefined when it lies outside. What is no such range (several, other
 * units, malformed ones) and any range but of a GET is answered with the whole, as RFC 9110 has it.
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

function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header
    .split(',')
    .some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
