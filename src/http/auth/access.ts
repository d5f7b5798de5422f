/**
 * Who may call, and for which tenant: a run is under the tenant of the request's token, so that no request can name another's.
 * With tokens: whoever has one. Without, on a loopback address only: any process of this machine, but no web page, so a Host
 * that is not loopback, a foreign Origin or a cross-site fetch is refused.
 */
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import type { RunRef } from '../../ledger/ledger.ts'
import type { Caller } from '../../runs/context.ts'
import { OPERATOR, type Tokens } from './tokens.ts'

/** Without the slash at their end, as the root is. */
const OPEN_PATHS = ['', '/livez', '/readyz', '/openapi.json', '/openapi.yaml']
const DOCS = '/docs'
const LOOPBACK = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]+)?$/i
const TARGET_HOST = /^https?:\/\/([^/?#]*)/i
const SAME_SITE = ['same-origin', 'none']

export interface AccessOptions {
  /** Who has a bearer token; without any the service is for this machine's processes. */
  readonly tokens: Tokens | undefined
  /** Listen openly without a token: the operator has said so. */
  readonly allowUnauthenticated: boolean
  /** Whose each request is, where somebody has checked it already; absent: the token says it, or it is the operator's. */
  readonly tenant?: () => string
}

/** Adds the checks to `app` itself; call it before any route is added. */
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
  if (this.tenant === undefined) throw new Error('a run was asked for before it was known by whom')
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
    // the scheme in any case; nothing else differs
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

/** For what is of all tenants together: throws `unauthorized` for any but the operator's token. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  if (request.tenant === OPERATOR) return
  throw new CoatcheckError(
    'unauthorized',
    "This is of all tenants together: the token of a tenant does not open it. Send the operator's, the one of COATCHECK_TOKEN or of a line without a tenant.",
  )
}

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
  // the host of an absolute target counts, not the header (RFC 9112, 3.2.2)
  const host = TARGET_HOST.exec(request.raw.url ?? '')?.[1] ?? request.headers.host ?? ''
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
    /** The run that the path names. */
    readonly runRef: RunRef
    /** Who asks for a validation. */
    readonly caller: Caller
    readonly refOf: (run: string) => RunRef
    /** Whose token the request has; undefined where it has none. */
    tenant: string | undefined
  }
}
