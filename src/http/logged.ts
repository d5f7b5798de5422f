/**
 * What the log shows of a request: what was asked of which path, and by whom. Not its query, its headers and its body, which hold
 * ids, paths into values, tokens and the values themselves.
 */
import type { FastifyRequest } from 'fastify'

export const LOGGED = {
  req: ({ method, url, host, ip, socket }: FastifyRequest) => ({
    method,
    url: pathOf(url),
    host,
    remoteAddress: ip,
    remotePort: socket?.remotePort,
  }),
}

/** A request's target without its query. */
export const pathOf = (url: string): string => url.split('?', 1)[0] as string
