/**
 * Large calls: requests whose work would block the event loop for long. They are handed as bytes to
 * the same application in a thread, and the answer comes back as bytes. That happens when the size
 * becomes known: when the body is taken, or when a use case finds how large a value it has to read.
 */
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../core/errors.ts'
import { holdAnswer } from './body/memory-budget.ts'
import { hasBody } from './body/raw-body.ts'
import { REQUEST_ID } from './problems/problems.ts'

/** A request as it goes to a thread. */
export interface LargeCall {
  readonly tenant: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Decoded bytes. Their memory is transferred to the thread. */
  readonly body: Buffer | undefined
}

/** Answer of a thread. */
export interface LargeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The threads that answer large calls. */
export interface LargeCalls {
  /**
   * Resolves with the answer, which may be a problem. A waiting call is dropped when `isWanted`
   * returns false at its turn. Rejects with `overloaded` when too many wait, and with `over_limit`
   * when the call takes too much time or memory.
   */
  run(call: LargeCall, isWanted: () => boolean): Promise<LargeAnswer>
}

const NOT_MODIFIED = 304
/** Headers of the connection, or of a body that is decoded by now. */
const NOT_PASSED_ON = [
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const NOT_ANSWERED = ['connection', 'content-length', 'date', 'keep-alive', REQUEST_ID]

/**
 * Lets a thread answer the request. Rejects as {@link LargeCalls.run} does, and with `overloaded`
 * when there is no room for the answer.
 */
export async function sendLarge(
  largeCalls: LargeCalls,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const call = callOf(request)
  // A put whose bytes went to the ledger and proved to be a retry cannot be handed over.
  if (hasBody(request.raw) && (call.body?.length ?? 0) === 0) {
    throw new CoatcheckError(
      'overloaded',
      'The same result is being put. Send the request again in a moment.',
    )
  }
  request.body = undefined
  request.wholeBody = undefined
  const { status, headers, body } = await largeCalls.run(call, () => !reply.raw.destroyed)
  holdAnswer(request, reply, body.length)
  reply.code(status)
  for (const [name, value] of Object.entries(headers)) {
    if (!NOT_ANSWERED.includes(name)) reply.header(name, value)
  }
  const { 'content-length': length = 0 } = headers
  if (request.method !== 'HEAD') return reply.send(status === NOT_MODIFIED ? undefined : body)
  // The length of the answer to a GET. Without a payload Fastify would send 0.
  return reply.header('content-length', length).send(Readable.from([]))
}

function callOf(request: FastifyRequest): LargeCall {
  const { tenant = '', method, raw, wholeBody: body } = request
  const headers: Record<string, string> = { [REQUEST_ID]: request.id }
  for (const [name, value = ''] of Object.entries(request.headers)) {
    if (!NOT_PASSED_ON.includes(name) && name !== REQUEST_ID) headers[name] = String(value)
  }
  return { tenant, method, url: raw.url ?? '/', headers, body }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined when every call is answered in this thread. */
    readonly largeCalls: LargeCalls | undefined
  }
  interface FastifyRequest {
    /** Bytes of a body that was taken whole; undefined once the call is handed over. */
    wholeBody: Buffer | undefined
  }
}
