/** What is logged of requests: one line for each, when its answer is through or broke off, and what went wrong. */
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { pathOf } from '../logged.ts'

const REFUSED = 400

/** True for health and metrics that were answered: somebody asks for them every few seconds, and they say nothing new. */
export function isProbe({ routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return routeOptions.config.probe === true && statusCode < REFUSED
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly probe?: boolean
  }
}

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
    else if (isProbe(request, reply)) reply.log.debug(line, 'request')
    else reply.log.info(line, 'request')
  }
}
