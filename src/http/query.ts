/**
 * Queries are strict on every route of the service: a member that a route does not have is a 400. A
 * misspelled one, or one that belongs to another route, would otherwise be dropped in silence.
 */
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { DOCS_PAGE, PROBLEM_PAGES } from './problems/problems.ts'

const NO_MEMBERS = Type.Object({}, { additionalProperties: false })

/**
 * Gives every route without a query schema one that has no members. Call it before any route is
 * added.
 */
export function addStrictQueries(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    if (isPage(route.url)) return
    route.schema = { ...route.schema, querystring: route.schema?.querystring ?? NO_MEMBERS }
  })
}

/**
 * The page of Swagger UI, what leads to it and its files ignore queries: links and caches add some.
 */
const isPage = (url: string): boolean =>
  url === '/' ||
  url === DOCS_PAGE ||
  (url.startsWith(`${DOCS_PAGE}/`) && !url.startsWith(PROBLEM_PAGES))
