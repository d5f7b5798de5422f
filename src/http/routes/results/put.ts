/** Reads a put from an envelope, or from a raw body with its query and headers. */
import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../../core/errors.ts'
import { parseJson } from '../../../core/json/scan.ts'
import { EVIDENCE_ID_BYTES } from '../../../core/limits.ts'
import type { FailureInput, PutSource } from '../../../runs/describe.ts'
import type { PutRequest } from '../../../runs/put.ts'
import { RawBody } from '../../body/raw-body.ts'
import type { Envelope, PutQuery } from './schemas.ts'

const TOOL_USE_ID = 'coatcheck-tool-use-id'
const ONE_OF = ['output', 'failure', 'suspension'] as const

/**
 * True for an envelope whose only member is `output`. Such a body could also be meant as the value
 * itself, so the answer says that it was unwrapped.
 */
export function isUnwrapped({ body }: FastifyRequest): boolean {
  if (body instanceof RawBody) return false
  const members = Object.keys(body as Envelope)
  return members.length === 1 && members[0] === 'output'
}

/** Reads a put. Throws `invalid_request`, `invalid_json`, `invalid_utf8`, `json_too_deep`. */
export function readPut(request: FastifyRequest, maxJsonDepthLevels: number): PutRequest {
  const idempotencyKey = headerText(request, 'idempotency-key') ?? null
  const query = request.query as PutQuery
  if (!(request.body instanceof RawBody)) {
    return { ...fromEnvelope(request.body as Envelope, query, request), idempotencyKey }
  }
  const source = rawSource(request.body, maxJsonDepthLevels)
  const toolUseId = checkedId(query.tool_use_id ?? headerText(request, TOOL_USE_ID) ?? '')
  return {
    toolUseId,
    toolName: query.tool_name ?? null,
    idempotencyKey,
    render: query.render ?? 'auto',
    source,
  }
}

function fromEnvelope(
  envelope: Envelope,
  query: PutQuery,
  request: FastifyRequest,
): Omit<PutRequest, 'idempotencyKey'> {
  const source = envelopeSource(envelope)
  const toolUseId =
    envelope.tool_use_id ?? query.tool_use_id ?? headerText(request, TOOL_USE_ID) ?? ''
  return {
    toolUseId: checkedId(toolUseId),
    toolName: checkedName(envelope.tool_name ?? query.tool_name ?? null),
    render: envelope.render ?? query.render ?? 'auto',
    source,
  }
}

function rawSource({ media, content, declaredBytes }: RawBody, maxDepthLevels: number): PutSource {
  const { kind, mediaType } = media
  if (!Buffer.isBuffer(content)) {
    return { pieces: content, declaredBytes, kind: kind === 'text' ? kind : 'binary', mediaType }
  }
  if (kind === 'json') return { json: parseJson(content, maxDepthLevels), body: content, mediaType }
  return kind === 'text' && isUtf8(content)
    ? { text: content, mediaType }
    : { binary: content, mediaType }
}

function envelopeSource({ output, failure, suspension }: Envelope): PutSource {
  const given = [output, failure, suspension].filter((member) => member !== undefined).length
  if (given !== 1) {
    const has = given === 0 ? 'none' : `${given} of them`
    throw new CoatcheckError(
      'invalid_request',
      `An envelope holds exactly one of ${ONE_OF.join(', ')}; this one has ${has}. Send a document that is no envelope with ?envelope=none.`,
    )
  }
  if (output !== undefined) return { output }
  if (failure !== undefined) return { failure: checkedFailure(failure) }
  const { reason, input_schema: inputSchema } = suspension as NonNullable<typeof suspension>
  return { suspension: { reason, inputSchema } }
}

/** Returns the failure. Throws `invalid_request` unless it has either `message` or `messages`. */
export function checkedFailure<Failure extends FailureInput>(failure: Failure): Failure {
  if ((failure.message === undefined) === (failure.messages === undefined)) {
    throw new CoatcheckError('invalid_request', 'A failure has either "message" or "messages".')
  }
  return failure
}

function checkedId(id: string): string {
  if (!id.isWellFormed()) {
    throw new CoatcheckError(
      'invalid_request',
      'The tool_use_id holds a lone surrogate; it must be well-formed text.',
    )
  }
  const bytes = Buffer.byteLength(id)
  if (bytes <= EVIDENCE_ID_BYTES) return id
  throw new CoatcheckError(
    'invalid_request',
    `The tool_use_id has ${bytes} bytes; the limit is ${EVIDENCE_ID_BYTES}.`,
    {
      limit: 'evidence_id_bytes',
      value: EVIDENCE_ID_BYTES,
    },
  )
}

function checkedName(name: string | null): string | null {
  if (name === null || name.isWellFormed()) return name
  throw new CoatcheckError(
    'invalid_request',
    'The tool_name holds a lone surrogate; it must be well-formed text.',
  )
}

/** Text of a header. Callers send UTF-8; Node decodes it as Latin-1. Throws `invalid_request`. */
function headerText(request: FastifyRequest, name: string): string | undefined {
  const value = request.headers[name]
  if (value === undefined) return undefined
  const bytes = Buffer.from(String(value), 'latin1')
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return text
  throw new CoatcheckError('invalid_request', `The header ${name} is not valid UTF-8.`)
}
