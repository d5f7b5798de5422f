/**
 * Bounds the held bytes of all bodies that are taken whole. Bytes count as they arrive, until the
 * answer is made, or has left if it is a stream that may contain parts of the body. A declared
 * length does not count yet: a client that declares a large body but sends slowly must not block
 * others. A body whose declared length has no room is refused unread.
 */
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { HeldMemory, HeldPart, type HeldWords, TURN_BYTES } from './held-memory.ts'
import type { BodyLimits } from './json-body.ts'
import { declaredBytes, hasBody, WHOLE_BODY_BYTES } from './raw-body.ts'

const WORDS: HeldWords = {
  limit: 'held_body_bytes',
  full: (maxBytes) =>
    `The bodies of other requests hold so much of ${maxBytes} bytes, the limit (held_body_bytes), that there is no room for this one.`,
  gaveWay: (maxBytes) =>
    `The body made room for another: it arrived slowly, or its tenant had more than half of ${maxBytes} bytes, the limit (held_body_bytes).`,
}

/**
 * Gives each request a `heldBody`, unless its body is known to be small. One body always has room.
 */
export function addHeldBodies(app: FastifyInstance, limits: BodyLimits): HeldMemory {
  const { maxHeldBytes, maxJsonBodyBytes } = limits
  const bodies = new HeldMemory(Math.max(maxHeldBytes, maxJsonBodyBytes, WHOLE_BODY_BYTES), WORDS)
  app.decorateRequest('heldBody', undefined)
  app.decorate('heldBodies', bodies)
  app.addHook('preParsing', (request, reply, payload, done) => {
    const { raw } = request
    const bytes = declaredBytes(raw)
    if (hasBody(raw) && (bytes === undefined || bytes > TURN_BYTES)) {
      const held = new HeldPart(bodies, request.tenant)
      request.heldBody = held
      reply.raw.once('close', () => held.release())
    }
    done(null, payload)
  })
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { heldBody: held } = request
    if (held !== undefined && (typeof payload === 'string' || Buffer.isBuffer(payload))) {
      // It counts as an answer from now on, see `held-answers.ts`.
      request.body = undefined
      request.wholeBody = undefined
      held.release()
    } else if (request.raw.socket instanceof Socket) {
      // An answer that is a stream may contain parts of the body.
      held?.leaveBy(request.raw.socket)
    }
    done(null, payload)
  })
  return bodies
}

/** Counts an answer in memory until it has left. Throws `overloaded` without room for it. */
export function holdAnswer(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
  if (request.heldBody !== undefined) return
  const held = new HeldPart(request.server.heldBodies, request.tenant)
  held.add(bytes)
  reply.raw.once('close', () => held.release())
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly heldBodies: HeldMemory
  }
  interface FastifyRequest {
    /** Memory of the body; undefined for a body that is not counted. */
    heldBody: HeldPart | undefined
  }
}
