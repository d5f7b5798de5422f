/**
 * Answers `expect: 100-continue` when the body is first read. A request that is refused by its
 * headers gets only its problem.
 */
import type { FastifyInstance } from 'fastify'

/** Adds the answer. */
export function addContinue(app: FastifyInstance): void {
  app.server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    app.routing(request, response)
  })
}
