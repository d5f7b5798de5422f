/** What is logged of requests: one line for each, when its answer is through or broke off, and what went wrong. */
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { pathOf } from '../logged.ts'

export class RequestLog extends LogController {
  /** Its line comes with its answer. */
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { method, ip: remote } = request
    const line = {
      request_id: request.id,
      method,
      url: pathOf(request.url),
      remote,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    }
    if (error) reply.log.error({ ...line, err: error }, 'request broke off')
    else reply.log.info(line, 'request')
  }
}
