/**
 * Problems (RFC 9457): the table from error code to status and title, and the place where an error
 * becomes a reply. A mistake of the caller is described in full. A fault of the service is logged
 * and not shown.
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

/** Media type of a problem. */
export const PROBLEM_TYPE = 'application/problem+json'
/** Header of each answer that holds the request id. */
export const REQUEST_ID = 'x-request-id'
/** Path under which Swagger UI is served. */
export const DOCS_PAGE = '/docs'
/** Path under which the pages of the codes are served. */
export const PROBLEM_PAGES = `${DOCS_PAGE}/problems`

/** Status and title of each code. */
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

/** Details that callers see for faults of the service. The error's own text is only logged. */
export const ADVICE: Readonly<Partial<Record<ErrorCode, string>>> = {
  internal_error: 'The service\'s log says what went wrong, under the request id in "instance".',
  ledger_corrupt:
    "Nothing was changed. The service's log says where the damage is. Restore the ledger from a copy.",
  ledger_unavailable: "Send the request again in a moment. The service's log says why it failed.",
  storage_full:
    'Nothing was changed. Make room on the disk of the ledger, and send the request again.',
}

export const ProblemSchema = Type.Object(
  {
    type: Type.String({ description: 'Address of the page of this code, on this service.' }),
    title: Type.String({ description: 'Short name of the kind of problem.' }),
    status: Type.Integer({ description: 'HTTP status.' }),
    code: Type.Enum([...ERROR_CODES], { description: 'Stable code, for programs to act on.' }),
    detail: Type.Optional(Type.String({ description: 'What was wrong, and what to do.' })),
    instance: Type.String({ description: "Request id, as in the service's log." }),
    limit: Type.Optional(
      Type.String({ description: 'Name of the limit that was hit, with its unit.' }),
    ),
    value: Type.Optional(Type.Integer({ description: 'Value of that limit.' })),
  },
  {
    $id: 'Problem',
    additionalProperties: true,
    description: 'Problem details (RFC 9457). Some codes add further members.',
  },
)
/** Body of a problem. */
export type Problem = Static<typeof ProblemSchema>

const TOO_LARGE = 413

const FASTIFY_CODES: Readonly<Record<number, ErrorCode>> = {
  401: 'unauthorized',
  404: 'not_found',
  413: 'body_too_large',
  415: 'unsupported_media_type',
  503: 'overloaded',
}

/** Status of problems that pass without any change to the request. */
export const BUSY_STATUS = 503
/** A backlog that causes a refusal is usually gone within a second. */
const RETRY_AFTER_SECONDS = 1

/** Converts any error to a `CoatcheckError`. */
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
    // Raw bodies do not get here: their reader throws `body_too_large` itself.
    return bodyTooLarge('json_body_bytes', request.server.bodyLimits.maxJsonBodyBytes)
  }
  if (error.statusCode === 415) return missingType(request)
  // The server of the files of /docs answers a 403 for a path that can name no file.
  if (error.statusCode === 403) {
    return new CoatcheckError('not_found', 'There is no such file. Open /docs instead.')
  }
  const status = error.statusCode ?? 500
  if (status < 500)
    return new CoatcheckError(FASTIFY_CODES[status] ?? 'invalid_request', error.message)
  return new CoatcheckError(
    FASTIFY_CODES[status] ?? 'internal_error',
    "Send the request again in a moment. The service's log says why it failed.",
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

/** Logs a failure. An overload is no fault, so it gets a warning without a stack. */
function logFailure(error: CoatcheckError, { id: request_id, log }: FastifyRequest): void {
  if (error.code === 'overloaded') {
    log.warn({ request_id, detail: error.message, ...error.facts }, 'request refused')
  } else log.error({ request_id, err: error.cause ?? error }, 'request failed')
}

/** Answers an error as a problem. A fault of the service is logged. */
export function sendProblem(
  error: FastifyError | CoatcheckError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  return reply.send(problemOf(error, request, reply))
}

/** Makes the body of a problem, and sets its status and headers in `reply`. */
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

/**
 * True for a client that waits for a `100 Continue` and did not get it. Whether it sends its body
 * is unknown, and so is where its next request begins.
 */
const isAskedFor = ({ raw }: FastifyRequest): boolean =>
  raw.headers.expect !== undefined && raw.readableFlowing === null && hasBody(raw)

/**
 * Reads and drops the rest of a refused body before the connection ends. Many clients read the
 * answer only when they have sent everything.
 */
function readOn({ raw }: FastifyRequest, reply: FastifyReply): void {
  // A decoder that the body is piped into takes no more bytes and would block it.
  raw.unpipe()
  raw.resume()
  if (reply.raw.shouldKeepAlive) return void reply.removeHeader('connection')
  reply.header('connection', 'close')
  const end = (): void => void raw.socket.end()
  // Node would close the connection after an answer with this header.
  reply.raw.once('prefinish', () => keepOpenAfter(reply.raw))
  reply.raw.once('finish', () => (raw.readableEnded ? end() : raw.once('end', end)))
}

const CONNECTION_DETAILS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW:
    'The headers are too large: 16 KiB is the limit. Send long ids in the body or the query.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time. Send it again, without pauses.',
}

/** Time that a refused client has to read the answer. */
const LINGER_MS = 2_000

const HEAD = 'HEAD '

/** Error of Node's HTTP parser. */
interface RefusedConnection {
  readonly code: string
  /** Bytes that were not understood. A buffer at run time. */
  readonly rawPacket?: unknown
}

/**
 * Answers bytes that are no HTTP with a problem and ends the connection, because the start of the
 * next request is unknown. An answer that is being sent already is finished instead, without a
 * problem after it.
 */
export function refuseConnection({ code, rawPacket }: RefusedConnection, socket: Socket): void {
  if (code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const answer = answerOn(socket)
  // A client would take the problem for a part of the answer.
  if (answer?.headersSent === true) return void answer.once('finish', () => endAndClose(socket))
  const { status, title } = PROBLEMS.invalid_request
  const detail = CONNECTION_DETAILS[code] ?? `The request is not valid HTTP (${code}).`
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
  // An answer to HEAD has no body. The method is known when `rawPacket` holds the first line.
  const isHead = Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, HEAD.length) === HEAD
  endAndClose(socket, isHead ? head : head + body)
}

/** Sends `last` and ends the connection. Destroys it when the client does not end it in time. */
function endAndClose(socket: Socket, last = ''): void {
  socket.end(last)
  const gone = setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.once('close', () => clearTimeout(gone))
}
