/** Log of requests: one line for each, once its answer was sent or broke off. */
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { pathOf } from '../logged.ts'

const REFUSED = 400

/** True for an answered call of health or metrics. Monitoring repeats them every few seconds. */
export function isProbe({ routeOptions }: FastifyRequest, { statusCode }: FastifyReply): boolean {
  return routeOptions.config.probe === true && statusCode < REFUSED
}

declare module 'fastify' {
  interface FastifyContextConfig {
    readonly probe?: boolean
  }
}

/** Writes the line of each request. */
export class RequestLog extends LogController {
  /** Logs nothing: the line is written when the answer ends. */
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
