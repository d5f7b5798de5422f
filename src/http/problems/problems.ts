/**
 * Problems (RFC 9457): the one table from error code to status and title, and the one place where an error becomes a
 * reply. What the caller did wrong is said in full; what went wrong in here is logged and not shown.
 */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorObject } from 'ajv'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { CoatcheckError, ERROR_CODES, type ErrorCode } from '../../core/errors.ts'
import { bodyTooLarge, hasBody } from '../body/raw-body.ts'
import { describeInvalid } from '../body/request-validation.ts'
import { answerOn, keepOpenAfter } from '../connection/node-http.ts'

export const PROBLEM_TYPE = 'application/problem+json'
/** The header that each answer names its request in. */
export const REQUEST_ID = 'x-request-id'
/** Where Swagger UI is served. */
export const DOCS_PAGE = '/docs'
/** Where the page of a code is served. */
export const PROBLEM_PAGES = `${DOCS_PAGE}/problems`

export const PROBLEMS: Readonly<Record<ErrorCode, { status: number; title: string }>> = {
  invalid_json: { status: 400, title: 'The JSON is malformed' },
  invalid_utf8: { status: 400, title: 'The JSON is not valid UTF-8' },
  json_too_deep: { status: 400, title: 'The JSON nests too deep' },
  invalid_request: { status: 400, title: 'The request is not as described' },
  invalid_range: { status: 400, title: 'The range is not one of this text' },
  unauthorized: { status: 401, title: 'A bearer token is needed' },
  forbidden_origin: { status: 403, title: 'Requests from web pages are refused' },
  not_found: { status: 404, title: 'There is no such thing' },
  path_not_found: { status: 404, title: 'The value has no such path' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  format_fixed: { status: 409, title: 'The format of a run is fixed when it opens' },
  ended: { status: 410, title: 'The run was ended' },
  expired: { status: 410, title: 'The run was idle for too long' },
  evicted: { status: 410, title: 'The retention of the run is over' },
  body_too_large: { status: 413, title: 'The body is too large' },
  unsupported_media_type: { status: 415, title: 'The content type is not one this call takes' },
  range_not_satisfiable: { status: 416, title: 'The byte range lies outside the value' },
  over_limit: { status: 422, title: 'A limit was reached' },
  tool_not_registered: { status: 422, title: 'The run has no such tool' },
  invalid_schema: { status: 422, title: 'The input schema cannot be used' },
  no_text_view: { status: 422, title: 'A binary has no lines' },
  internal_error: { status: 500, title: 'Something went wrong in the service' },
  ledger_corrupt: { status: 500, title: 'The ledger file is damaged' },
  overloaded: { status: 503, title: 'The service is busy' },
  ledger_unavailable: { status: 503, title: 'The ledger cannot be reached' },
  storage_full: { status: 507, title: 'There is no room left for the ledger' },
}

/** What a caller is told of an error in here, whose own detail is for the log. */
export const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  internal_error: 'The log says what, under the request id in "instance".',
  ledger_corrupt:
    'Nothing was changed. The log says where; the ledger has to be restored from a copy.',
  ledger_unavailable: 'Send the request again in a moment; the log says why it failed.',
  storage_full: 'Nothing was changed. Make room on the disk of the ledger, and send it again.',
}

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'The page of this code, on this service.' }),
    title: Type.String({ description: 'What kind of problem it is.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    code: Type.Enum([...ERROR_CODES], { description: 'The stable code to branch on.' }),
    detail: Type.Optional(Type.String({ description: 'What was wrong here, and what to do.' })),
    instance: Type.String({ description: 'The request id, as in the logs.' }),
    limit: Type.Optional(Type.String({ description: 'The limit that was hit, with its unit.' })),
    value: Type.Optional(Type.Integer({ description: 'The value of that limit.' })),
  },
  {
    $id: 'Problem',
    additionalProperties: true,
    description: 'Problem details (RFC 9457); some codes add members of their own.',
  },
)
export type Problem = Static<typeof ProblemSchema>

const TOO_LARGE = 413

const FASTIFY_CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  404: 'not_found',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  503: 'overloaded',
}

/** The status of whatever passes by itself. */
export const BUSY_STATUS = 503
/** What waits at such a time is done within a moment. */
const RETRY_AFTER_SECONDS = 1

/** Any error as one of ours. */
function toCoatcheckError(
  error: FastifyError | CoatcheckError,
  request: FastifyRequest,
): CoatcheckError {
  if (error instanceof CoatcheckError) return error
  if (error.validation !== undefined) {
    const detail = describeInvalid(error.validation as ErrorObject[], error.validationContext)
    return new CoatcheckError('invalid_request', detail)
  }
  if (error.statusCode === TOO_LARGE) {
    // Of raw bodies it is told by what reads them.
    return bodyTooLarge('json_body_bytes', request.server.bodyLimits.maxJsonBodyBytes)
  }
  if (error.statusCode === 415) return missingType(request)
  // what serves the files of /docs says so of a path that can be none
  if (error.statusCode === 403) {
    return new CoatcheckError('not_found', 'There is no such file; /docs shows what there is.')
  }
  const status = error.statusCode ?? 500
  if (status < 500)
    return new CoatcheckError(FASTIFY_CODES[status] ?? 'invalid_request', error.message)
  return new CoatcheckError(
    FASTIFY_CODES[status] ?? 'internal_error',
    'Send the request again in a moment; the log says why it failed.',
    {},
    { cause: error },
  )
}

function missingType(request: FastifyRequest): CoatcheckError {
  const given = request.headers['content-type']
  const what =
    given === undefined
      ? 'The body has no content-type'
      : `${JSON.stringify(given)} is no media type`
  return new CoatcheckError(
    'unsupported_media_type',
    `${what}. Send application/json for an envelope; a put also takes text/plain and other types as raw bodies.`,
  )
}

/** What is shed under load is no fault: it is told in a line. */
function logFailure(error: CoatcheckError, { id: request_id, log }: FastifyRequest): void {
  if (error.code === 'overloaded') {
    log.warn({ request_id, detail: error.message, ...error.facts }, 'request refused')
  } else log.error({ request_id, err: error.cause ?? error }, 'request failed')
}

export function sendProblem(
  error: FastifyError | CoatcheckError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return reply.send(problemOf(error, request, reply))
}

/** The body of a problem; its status and headers are set in `reply`. */
export function problemOf(
  error: FastifyError | CoatcheckError,
  request: FastifyRequest,
  reply: FastifyReply,
): string {
  const known = toCoatcheckError(error, request)
  const { status, title } = PROBLEMS[known.code]
  if (status >= 500) logFailure(known, request)
  const problem: Problem = {
    type: `${PROBLEM_PAGES}/${known.code}`,
    title,
    status,
    code: known.code,
    detail: ADVICE[known.code] ?? known.message.toWellFormed(),
    instance: request.id,
    ...known.facts,
  }
  if (isAskedFor(request)) reply.header('connection', 'close')
  else if (hasUnreadBody(request)) readOn(request, reply)
  if (known.code === 'method_not_allowed') reply.header('allow', String(known.facts['allow']))
  if (known.facts['accept_encoding'] !== undefined) {
    reply.header('accept-encoding', String(known.facts['accept_encoding']))
  }
  if (status === 401) reply.header('www-authenticate', 'Bearer realm="coatcheck"')
  if (status === BUSY_STATUS) reply.header('retry-after', RETRY_AFTER_SECONDS)
  reply.code(status).type(PROBLEM_TYPE)
  return JSON.stringify(problem)
}

const hasUnreadBody = ({ raw }: FastifyRequest): boolean => !raw.readableEnded && hasBody(raw)

/** A client that was to be told to send its body, and was not: whether it does is unknown, and so is where a next request begins. */
const isAskedFor = ({ raw }: FastifyRequest): boolean =>
  raw.headers.expect !== undefined && raw.readableFlowing === null && hasBody(raw)

/** The rest of a body that is refused is read and dropped before a connection ends, so that the client gets to see why. */
function readOn({ raw }: FastifyRequest, reply: FastifyReply): void {
  // A decoder that it fed would take no more, and hold it up.
  raw.unpipe()
  raw.resume()
  if (reply.raw.shouldKeepAlive) return void reply.removeHeader('connection')
  reply.header('connection', 'close')
  const end = (): void => void raw.socket.end()
  // its header says already that the connection ends
  reply.raw.once('prefinish', () => keepOpenAfter(reply.raw))
  reply.raw.once('finish', () => (raw.readableEnded ? end() : raw.once('end', end)))
}

const CONNECTION_DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW:
    'The headers are too large: 16 KiB is the limit. Send long ids in the body or the query.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it again, without pauses.',
}

/** How long a refused client has to read why. */
const LINGER_MS = 2_000

const HEAD = 'HEAD '

interface RefusedConnection {
  readonly code: string
  /** The bytes that were not understood; a buffer, whatever its type says. */
  readonly rawPacket?: unknown
}

/**
 * Answers what is no HTTP with a problem, after the answers that are due, and ends the connection: where the next request would
 * begin is unknown. An answer that is being sent to a request whose body is no HTTP is sent to its end.
 */
export function refuseConnection({ code, rawPacket }: RefusedConnection, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const answer = answerOn(socket)
  // What is written into an answer would be taken for a part of it.
  if (answer?.headersSent === true) return void answer.once('finish', () => endAndClose(socket))
  const { status, title } = PROBLEMS.invalid_request
  const detail = CONNECTION_DETAILS[code] ?? `The request is not HTTP as it should be (${code}).`
  const id = randomUUID()
  const body = JSON.stringify({
    type: `${PROBLEM_PAGES}/invalid_request`,
    title,
    status,
    code: 'invalid_request',
    detail,
    instance: id,
  } satisfies Problem)
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: ${PROBLEM_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${REQUEST_ID}: ${id}\r\nconnection: close\r\n\r\n`
  // after which a client reads no body; known only while the request's first line is at hand
  const isHead = Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, HEAD.length) === HEAD
  endAndClose(socket, isHead ? head : head + body)
}

/** Ends a connection after `last`, and closes it for a client that does not. */
function endAndClose(socket: Socket, last = ''): void {
  socket.end(last)
  const gone = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(gone))
}
