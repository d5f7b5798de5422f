/** What is logged of requests: one line for each, when its answer is through or broke off, and what went wrong. */
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'

export class RequestLog extends LogController {
  constructor() {
    super({ requestIdLogLabel: 'request_id' })
  }

  /** Its line comes with its answer. */
  override incomingRequest(): void {}

  override requestCompleted(
    error: Error | null,
    request: FastifyRequest,
    reply: FastifyReply,
  ): void {
    const { method, url, ip: remote } = request
    const line = { method, url, remote, status: reply.statusCode, ms: reply.elapsedTime }
    if (error) reply.log.error({ ...line, err: error }, 'request broke off')
    else reply.log.info(line, 'request')
  }
}
