/**
 * Clients that ask, with `expect: 100-continue`, whether to send a body: they are told to when the first of it is wanted, so that
 * one that is refused by its headers gets its problem alone.
 */
import type { FastifyInstance } from 'fastify'

export function addContinue(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    app.routing(request, response)
  })
}
