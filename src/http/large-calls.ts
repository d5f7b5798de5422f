/**
 * Large calls: requests whose work would hold the event loop for long are handed, as bytes, to the same application in a thread.
 * A request is handed over where its size is first known: when its body is taken, or when a use case finds how large a value it
 * has to read. Its answer comes back as bytes.
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
  /** Decoded; handed over. */
  readonly body: Buffer | undefined
}

export interface LargeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** The threads that answer large calls. */
export interface LargeCalls {
  /**
   * Resolves with the answer, which may be a problem. A call that waits is dropped when `isWanted` returns false at its turn.
   * Rejects with `overloaded` when too many wait, with `over_limit` when it takes too long or too much memory.
   */
  run(call: LargeCall, isWanted: () => boolean): Promise<LargeAnswer>
}

const NOT_MODIFIED = 304
/** Of a connection, or of a body that is decoded since. */
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

/** Has a thread answer the request. Rejects as {@link LargeCalls.run}, and with `overloaded` when the answer has no room. */
export async function sendLarge(
  largeCalls: LargeCalls,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const call = callOf(request)
  // Its bytes went to the ledger, which has found what it was put before.
  if (hasBody(request.raw) && (call.body?.length ?? 0) === 0) {
    throw new CoatcheckError('overloaded', 'The same is being put. Send it again in a moment.')
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
  // The length that a GET would have; without a payload it would be taken for 0.
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
    /** Undefined where every call is answered in this thread. */
    readonly largeCalls: LargeCalls | undefined
  }
  interface FastifyRequest {
    /** The bytes of a body that was taken whole; undefined once the call was handed over. */
    wholeBody: Buffer | undefined
  }
}
