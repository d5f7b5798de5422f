/** The HTTP application: all hooks and routes, in the order of the OpenAPI document. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { CoatcheckError } from '../core/errors.ts'
import { LargeWork, type RunContext } from '../runs/context.ts'
import { type AccessOptions, addAccess } from './auth/access.ts'
import { addBodyless } from './body/bodyless.ts'
import { addDecoding } from './body/decoding.ts'
import { addBodyParsers, type BodyLimits } from './body/json-body.ts'
import { addHeldBodies } from './body/memory-budget.ts'
import { schemaController } from './body/request-validation.ts'
import { addFraming } from './connection/ambiguous-requests.ts'
import { addDraining } from './connection/draining.ts'
import { addContinue } from './connection/expect-continue.ts'
import { addNotFound } from './connection/not-found.ts'
import { addOneRequest, oneRequestMessages } from './connection/one-request.ts'
import { addTimeouts, serverTimeouts, type Timeouts } from './connection/timeouts.ts'
import { addDocs, addOpenApi } from './docs/docs.ts'
import { type LargeCalls, sendLarge } from './large-calls.ts'
import { Metrics } from './observability/metrics.ts'
import { RequestLog } from './observability/request-log.ts'
import { ProblemSchema, REQUEST_ID, refuseConnection, sendProblem } from './problems/problems.ts'
import { addStrictQueries } from './query.ts'
import { addHeldAnswers } from './reply/held-answers.ts'
import { argumentRoutes } from './routes/arguments/routes.ts'
import { compactionRoutes } from './routes/compaction/routes.ts'
import { evidenceRoutes } from './routes/evidence/routes.ts'
import { healthRoutes } from './routes/health/routes.ts'
import { resultRoutes } from './routes/results/routes.ts'
import { runRoutes } from './routes/runs/routes.ts'
import { sentinelRoutes } from './routes/sentinels/routes.ts'
import { SHARED_SCHEMAS } from './routes/shared-schemas.ts'
import { textRoutes } from './routes/text/routes.ts'

/** Most characters of a path parameter. Long ids are percent-encoded in paths. */
const PARAM_CHARS = 8192
/** Longer than the idle time of common clients' connection pools, so that they close first. */
const KEEP_ALIVE_MS = 75_000
const REQUEST_ID_FORM = /^[A-Za-z0-9._:-]{1,128}$/
const API = '/v1'
const SERVER_ERROR = 500

/** Options of {@link buildApp}. */
export interface AppOptions {
  readonly context: RunContext
  readonly metrics?: Metrics
  readonly bodyLimits: BodyLimits
  /** Most bytes of all answers that clients have not taken yet. Absent: no limit. */
  readonly maxHeldAnswerBytes?: number | undefined
  /** Absent: only Node's own timeouts apply. */
  readonly timeouts?: Timeouts
  readonly access: AccessOptions
  /** Absent: nothing is logged. */
  readonly loggerInstance?: FastifyBaseLogger
  /** Absent: large calls are answered in this thread. */
  readonly largeCalls?: LargeCalls | undefined
  /** False leaves out the OpenAPI document and /docs. Default: true. */
  readonly isDocumented?: boolean
}

/** Builds the application. */
export async function buildApp(options: AppOptions): Promise<FastifyInstance> {
  const { context, access, metrics = new Metrics(), bodyLimits, timeouts, loggerInstance } = options
  const app = Fastify({
    ...(loggerInstance === undefined ? {} : { loggerInstance }),
    schemaController,
    genReqId: requestId,
    // A path that cannot be decoded is answered here, before any hook.
    frameworkErrors: (error, request, reply) =>
      void sendProblem(error, request, reply.header(REQUEST_ID, request.id)),
    logController: new RequestLog(),
    // A logger for each request would cost more than its line. Lines name the request instead.
    childLoggerFactory: (logger) => logger,
    clientErrorHandler: refuseConnection,
    http: {
      requireHostHeader: false,
      ...oneRequestMessages,
      ...(timeouts && serverTimeouts(timeouts)),
    },
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    // A hook below refuses requests as problems while the service closes.
    return503OnClosing: false,
    routerOptions: { maxParamLength: PARAM_CHARS, ignoreTrailingSlash: true },
    onProtoPoisoning: 'ignore',
    onConstructorPoisoning: 'ignore',
  })
  app.decorate('metrics', metrics)
  app.decorate('bodyLimits', bodyLimits)
  app.decorate('largeCalls', options.largeCalls)
  app.setErrorHandler(answerError)
  addOneRequest(app)
  addNotFound(app)
  addStrictQueries(app)
  // First, because the body of a refused request must keep arriving too.
  if (timeouts !== undefined) addTimeouts(app, timeouts)
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(REQUEST_ID, request.id)
    requireDecodable(request.url)
    done()
  })
  freeConnectionsOnClose(app)
  addContinue(app)
  addDraining(app)
  addFraming(app)
  metrics.watchRequests(app)
  metrics.watchQueue(() => context.ledger.queued())
  metrics.watchDisk(() => context.ledger.diskSizes())
  refuseWhileClosing(app)
  await addAccess(app, access)
  addBodyless(app)
  const held = addHeldBodies(app, bodyLimits)
  metrics.watchBodies(() => held.bytes)
  addDecoding(app, bodyLimits, held)
  addBodyParsers(app, bodyLimits)
  for (const schema of [ProblemSchema, ...SHARED_SCHEMAS]) app.addSchema(schema)
  const { isDocumented = true } = options
  if (isDocumented) await addOpenApi(app, { secured: access.tokens !== undefined })
  await addRoutes(app, { context, maxHeldAnswerBytes: options.maxHeldAnswerBytes })
  if (isDocumented) await addDocs(app)
  return app
}

/** Lets a thread answer a large call. Any other error becomes a problem. */
async function answerError(
  error: FastifyError | CoatcheckError,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { largeCalls } = request.server
  if (!(error instanceof LargeWork) || largeCalls === undefined) {
    return sendProblem(error, request, reply)
  }
  try {
    return await sendLarge(largeCalls, request, reply)
  } catch (refusal) {
    return sendProblem(refusal as Error as FastifyError, request, reply)
  }
}

/** While the service closes, each answer ends its connection, so that none delays the end. */
function freeConnectionsOnClose(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', (done) => {
    closing = true
    done()
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('onResponse', (_request, _reply, done) => {
    // For an answer whose headers were sent before.
    if (closing) app.server.closeIdleConnections()
    done()
  })
}

async function addRoutes(
  app: FastifyInstance,
  { context, maxHeldAnswerBytes }: Pick<AppOptions, 'context' | 'maxHeldAnswerBytes'>,
): Promise<void> {
  await app.register(
    async (api) => {
      const answers = addHeldAnswers(api, maxHeldAnswerBytes ?? Number.POSITIVE_INFINITY)
      app.metrics.watchAnswers(() => answers.bytes)
      touchRuns(api, context)
      await api.register(runRoutes, { context })
      await api.register(resultRoutes, { context })
      await api.register(argumentRoutes, { context })
      await api.register(evidenceRoutes, { context })
      await api.register(textRoutes)
      await api.register(sentinelRoutes)
      await api.register(compactionRoutes, { context })
    },
    { prefix: API },
  )
  await app.register(healthRoutes, { ledger: context.ledger })
}

/** Throws `invalid_request` for a query that is not percent-encoded UTF-8. */
function requireDecodable(url: string): void {
  const query = url.slice(url.indexOf('?') + 1)
  if (query.length === url.length || !query.includes('%')) return
  try {
    decodeURIComponent(query)
  } catch {
    throw new CoatcheckError('invalid_request', 'The query is not percent-encoded UTF-8.')
  }
}

/** Refuses requests that arrive while the service closes. Requests in progress are finished. */
function refuseWhileClosing(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onRequest', (_request, reply, done) => {
    if (!closing) return void done()
    reply.header('connection', 'close')
    throw new CoatcheckError(
      'overloaded',
      'The service is shutting down. Send the request again in a moment.',
    )
  })
}

/** Restarts the idle time of a run at each request that names it, also a refused one. */
function touchRuns(api: FastifyInstance, { ledger, now }: RunContext): void {
  api.addHook('onResponse', (request, reply, done) => {
    if (request.tenant !== undefined) {
      const ref = request.runRef
      if (ref.run !== '' && reply.statusCode < SERVER_ERROR) ledger.touch(ref, now())
    }
    done()
  })
}

/** Request id: the caller's if it has the expected form, else a new one. */
function requestId(request: IncomingMessage): string {
  const given = request.headers[REQUEST_ID]
  return typeof given === 'string' && REQUEST_ID_FORM.test(given) ? given : randomUUID()
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly bodyLimits: BodyLimits
  }
}
