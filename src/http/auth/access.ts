/**
 * Decides who may call, and for which tenant. A request sees only runs of the tenant of its token.
 *
 * With tokens, every call needs one. Without tokens the service serves the processes of this
 * machine, but no web pages: a Host that is not a loopback address, a foreign Origin and a
 * cross-site fetch are refused.
 */
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import type { RunRef } from '../../ledger/ledger.ts'
import type { Caller } from '../../runs/context.ts'
import { targetHostOf } from '../connection/ambiguous-requests.ts'
import { OPERATOR, type Tokens } from './tokens.ts'

/** Paths that need no token, without their trailing slash. */
const OPEN_PATHS = ['', '/livez', '/readyz', '/openapi.json', '/openapi.yaml']
const DOCS = '/docs'
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i
const SAME_SITE = ['same-origin', 'none']

/** Options of {@link addAccess}. */
export interface AccessOptions {
  /** Valid tokens. Undefined: no call needs one. */
  readonly tokens: Tokens | undefined
  /** True to serve any client without a token, web pages included. */
  readonly allowUnauthenticated: boolean
  /**
   * Tenant of each request, when requests were checked before they get here. Absent: the tenant of
   * the token, or the operator without tokens.
   */
  readonly tenant?: () => string
}

/** Adds the checks to `app` itself. Call it before any route is added. */
export async function addAccess(app: FastifyInstance, options: AccessOptions): Promise<void> {
  app.decorateRequest('tenant', undefined)
  app.decorateRequest('refOf', refOf)
  app.decorateRequest('runRef', {
    getter() {
      return this.refOf((this.params as { run_id?: string }).run_id ?? '')
    },
  })
  app.decorateRequest('caller', {
    getter() {
      const { remoteAddress, remotePort } = this.raw.socket
      return { tenant: this.tenant ?? '', connection: `${remoteAddress} ${remotePort}` }
    },
  })
  if (options.tokens !== undefined) return addTokens(app, options.tokens)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!options.allowUnauthenticated) refuseWebPages(request)
    request.tenant = options.tenant?.() ?? OPERATOR
    done()
  })
}

function refOf(this: FastifyRequest, run: string): RunRef {
  if (this.tenant === undefined)
    throw new Error('a run was looked up before the tenant of the request was known')
  return { tenant: this.tenant, run }
}

async function addTokens(app: FastifyInstance, tokens: Tokens): Promise<void> {
  const auth = (token: string, request: FastifyRequest): boolean => {
    request.tenant = tokens.tenantOf(token)
    return request.tenant !== undefined
  }
  await app.register(bearerAuth, {
    keys: [],
    auth,
    addHook: false,
    verifyErrorLogLevel: 'debug',
    // Accepts the scheme in any letter case, and changes nothing else.
    specCompliance: 'rfc6749',
  })
  const verify = app.verifyBearerAuth
  if (verify === undefined) throw new Error('the bearer token check could not be set up')
  app.addHook('onRequest', (request, reply, done) => {
    if (isOpen(request)) done()
    else
      verify(request, reply, (error) => {
        done(error === undefined ? undefined : unauthorized(request.headers.authorization))
      })
  })
}

/** Protects data of all tenants. Throws `unauthorized` unless the tenant is the operator. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  if (request.tenant === OPERATOR) return
  throw new CoatcheckError(
    'unauthorized',
    "This is of all tenants together, so the token of a tenant gives no access. Send the operator's token: the one of COATCHECK_TOKEN, or of a line without a tenant.",
  )
}

/** Whether the request needs no token. */
function isOpen(request: FastifyRequest): boolean {
  const path = (request.url.split('?', 1)[0] ?? '').replace(/\/$/, '')
  return OPEN_PATHS.includes(path) || path === DOCS || path.startsWith(`${DOCS}/`)
}

function unauthorized(authorization: string | undefined): CoatcheckError {
  const header =
    'the header "authorization: Bearer <token>" with the token of COATCHECK_TOKEN or one of COATCHECK_TOKENS_FILE'
  const advice = `Send ${header}. On the page /docs, press "Authorize" and enter it.`
  if (authorization === undefined) return new CoatcheckError('unauthorized', advice)
  const wrong = /^bearer /i.test(authorization)
    ? 'The bearer token is not the right one'
    : 'The authorization header is no bearer token'
  return new CoatcheckError('unauthorized', `${wrong}. ${advice}`)
}

function refuseWebPages(request: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const host = targetHostOf(request.raw) ?? request.headers.host ?? ''
  if (!LOOPBACK.test(host)) {
    throw forbidden(`the Host ${JSON.stringify(host)} is not a loopback address`)
  }
  if (origin !== undefined && !isOwnOrigin(origin, host)) {
    throw forbidden(`the Origin ${JSON.stringify(origin)} is another site`)
  }
  if (site !== undefined && !SAME_SITE.includes(String(site)))
    throw forbidden('it comes from another site')
}

const isOwnOrigin = (origin: string, host: string): boolean =>
  origin === `http://${host}` || origin === `https://${host}`

const forbidden = (why: string): CoatcheckError =>
  new CoatcheckError(
    'forbidden_origin',
    `Without COATCHECK_TOKEN only processes of this machine are served, and ${why}. Call it as http://127.0.0.1:<port>, or set a token.`,
  )

declare module 'fastify' {
  interface FastifyRequest {
    /** Run that the path names. */
    readonly runRef: RunRef
    /** Caller of validations. */
    readonly caller: Caller
    /** Run of this name under the tenant of the request. */
    readonly refOf: (run: string) => RunRef
    /** Tenant of the request's token; undefined without a valid one. */
    tenant: string | undefined
  }
}
