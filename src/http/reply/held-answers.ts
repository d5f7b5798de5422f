/**
 * What answers hold in memory until the system has taken them, all together and at most so much. An answer that is read while it is
 * sent holds what is on its way. Where there is no room, an answer gives way that nobody takes; else calls are refused before
 * anything is done for them. Small answers are not counted: a connection has one at a time.
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
    `Answers that other clients have not yet taken hold so much of ${maxBytes} bytes, the limit (held_answer_bytes), that this one has no room.`,
  gaveWay: (maxBytes) =>
    `The answer made room for another: it was not taken, or its tenant had more than half of ${maxBytes} bytes, the limit (held_answer_bytes).`,
}

/** Counts the answers of `api` and of the contexts that it gets after. */
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
      // Less of a stream is on its way then; what a put did is told.
      if (payload instanceof PieceStream) payload.writeBytes = SMALL_BYTES
      else if (!isPut(request)) {
        // of the answer that is not sent
        reply.removeHeader('content-length')
        return void done(null, problemOf(error as CoatcheckError, request, reply))
      }
    }
    // Text would be in memory twice while it is written.
    done(null, typeof payload === 'string' ? Buffer.from(payload) : payload)
  })
  return answers
}

/** Its result is kept already. */
const isPut = ({ routeOptions }: FastifyRequest): boolean => routeOptions.config.rawBody === true

function heldBytes(payload: unknown): number {
  if (typeof payload === 'string') {
    return payload.length <= SMALL_BYTES / 4 ? 0 : Buffer.byteLength(payload)
  }
  if (Buffer.isBuffer(payload)) return payload.length
  return payload instanceof PieceStream ? Math.min(payload.totalBytes, WRITE_BYTES) : 0
}
