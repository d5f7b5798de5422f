/**
 * Bounds the memory of all answers that the system has not taken yet. An answer that is read while
 * it is sent counts with the bytes that are on their way. When memory is short, an answer that its
 * client does not take is dropped; otherwise new calls are refused before any work is done. Small
 * answers are not counted: a connection has one at a time.
 */
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CoatcheckError } from '../../core/errors.ts'
import { HeldMemory, HeldPart, type HeldWords, SMALL_BYTES } from '../body/held-memory.ts'
import { problemOf } from '../problems/problems.ts'
import { PieceStream, WRITE_BYTES } from './piece-stream.ts'

const WORDS: HeldWords = {
  limit: 'held_answer_bytes',
  full: (maxBytes) =>
    `Answers that other clients have not yet taken hold so much of ${maxBytes} bytes, the limit (held_answer_bytes), that there is no room for this one.`,
  gaveWay: (maxBytes) =>
    `The answer was dropped to make room for another: its client did not take it, or its tenant had more than half of ${maxBytes} bytes, the limit (held_answer_bytes).`,
}

/** Counts the answers of `api`, and of contexts that are registered in it later. */
export function addHeldAnswers(api: FastifyInstance, maxBytes: number): HeldMemory {
  const answers = new HeldMemory(maxBytes, WORDS)
  api.addHook('onRequest', (request, _reply, done) => {
    answers.requireRoom(new HeldPart(answers, request.tenant), SMALL_BYTES)
    done()
  })
  api.addHook('onSend', (request, reply, payload, done) => {
    const { socket } = request.raw
    const bytes = heldBytes(payload)
    if (bytes <= SMALL_BYTES || !(socket instanceof Socket)) return void done(null, payload)
    const part = new HeldPart(answers, request.tenant)
    part.leaveBy(socket)
    reply.raw.once('close', () => part.release())
    try {
      part.add(bytes)
    } catch (error) {
      // A stream gets less memory, and a put is answered since its result is stored already.
      if (payload instanceof PieceStream) payload.writeBytes = SMALL_BYTES
      else if (!isPut(request)) {
        // It was of the answer that is not sent.
        reply.removeHeader('content-length')
        return void done(null, problemOf(error as CoatcheckError, request, reply))
      }
    }
    // A string would be in memory twice while it is written.
    done(null, typeof payload === 'string' ? Buffer.from(payload) : payload)
  })
  return answers
}

/** Whether the call is a put. */
const isPut = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.rawBody === true

/** Bytes that a payload holds in memory; 0 for a string that is surely small. */
function heldBytes(payload: unknown): number {
  if (typeof payload === 'string') {
    return payload.length <= SMALL_BYTES / 4 ? 0 : Buffer.byteLength(payload)
  }
  if (Buffer.isBuffer(payload)) return payload.length
  return payload instanceof PieceStream ? Math.min(payload.totalBytes, WRITE_BYTES) : 0
}
