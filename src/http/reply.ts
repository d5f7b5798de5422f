/** Replies that carry callers' JSON: spliced bytes, never serialized again. */
import type { FastifyReply } from 'fastify'
import { type Splice, spliceJson } from '../core/json/splice.ts'

export function sendSpliced(reply: FastifyReply, value: Splice, status = 200): FastifyReply {
  return reply.code(status).type('application/json; charset=utf-8').send(spliceJson(value))
}
