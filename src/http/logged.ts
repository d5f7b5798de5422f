/**
 * The part of a request that the service's log shows: method, path and client. The query, the
 * headers and the body are left out: they hold ids, paths into values, tokens and values.
 */
import type { FastifyRequest } from 'fastify'

/** Serializers of the log. */
export const LOGGED = {
  req: ({ method, url, host, ip, socket }: FastifyRequest) => ({
    method,
    url: pathOf(url),
    host,
    remoteAddress: ip,
    remotePort: socket?.remotePort,
  }),
}

/** Target of a request without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] as string
