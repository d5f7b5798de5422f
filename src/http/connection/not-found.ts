/** Answers requests that no route takes: an unknown path, or a known path with another method. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { sendProblem } from '../problems/problems.ts'

interface Route {
  readonly methods: readonly string[]
  readonly path: RegExp
}

/** Adds the answers. Call it before any route is added. */
export function addNotFound(app: FastifyInstance): void {
  const routes: Route[] = []
  app.addHook('onRoute', ({ method, url }) => {
    routes.push({ methods: [method].flat(), path: patternOf(url) })
  })
  app.setNotFoundHandler((request, reply) => refuse(routes, request, reply))
  // Before the body is read: the path or the method is wrong, whatever the body is.
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.is404) refuse(routes, request, reply)
    else done(null, payload)
  })
}

/** Expression for the paths of a route's pattern, such as `/runs/:run_id` or `/static/*`. */
function patternOf(url: string): RegExp {
  const source = url
    .replace(/\/$/, '')
    .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replace(/:[a-z_]+/gi, '[^/]+')
  return new RegExp(`^${source}/?$`)
}

function refuse(
  routes: readonly Route[],
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? ''
  const known = routes.filter((route) => route.path.test(path))
  const allow = [...new Set(known.flatMap(({ methods }) => methods))].join(', ')
  const detail = `There is no ${request.method} ${path}`
  // curl sends a PUT for -T.
  const isUpload = request.method === 'PUT' && allow.includes('POST')
  const hint = isUpload ? ' With curl, add -X POST to -T.' : ''
  // A route of many paths, such as files, may take the method but have nothing at this path.
  const takesMethod = known.some(({ methods }) => methods.includes(request.method))
  const error =
    allow === '' || takesMethod
      ? new CoatcheckError('not_found', `${detail}; /docs shows what there is.`)
      : new CoatcheckError('method_not_allowed', `${detail}; this path takes ${allow}.${hint}`, {
          allow,
        })
  return sendProblem(error, request, reply)
}
