/**
 * Refuses requests that two readers could understand differently: with a repeated header that may
 * occur once, an unknown transfer coding, or no host. They are refused before any other check.
 * Bytes that are no HTTP never get here.
 */
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'

/** Headers that may occur once. Node would take the first, or join them. */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'coatcheck-tool-use-id',
  'content-encoding',
  'content-type',
  'host',
  'idempotency-key',
  'origin',
])

/** Adds the checks. */
export function addFraming(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    requireOneReading(request)
    done()
  })
  // Node would answer an unknown expectation with a bare 417. It may be ignored (RFC 9110).
  app.server.on('checkExpectation', (request, response) =>
    app.server.emit('request', request, response),
  )
}

function requireOneReading({ raw }: FastifyRequest): void {
  const twice = repeated(raw.rawHeaders)
  if (twice !== undefined) throw invalid(`The header ${twice} was sent more than once.`)
  const coding = raw.headers['transfer-encoding']
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked') {
    throw invalid(
      `The transfer-encoding ${JSON.stringify(coding)} is not supported, only chunked. Name the compression of a body in content-encoding.`,
    )
  }
  const { host } = raw.headers
  if (host === undefined && raw.httpVersion === '1.1')
    throw invalid('The request has no Host header.')
  requireOneHost(raw, host)
}

/** The scheme and the host, with its port, of an absolute request target. */
const ABSOLUTE = /^(https?):\/\/([^/?#]*)/i
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: ':80', https: ':443' }

/**
 * The host of an absolute request target. It counts, not the `Host` header (RFC 9112, section
 * 3.2.2). Undefined for other targets.
 */
export const targetHostOf = ({ url = '' }: IncomingMessage): string | undefined =>
  ABSOLUTE.exec(url)?.[2]

/** A proxy in front may go by the one, and what is behind it by the other. */
function requireOneHost({ url = '' }: IncomingMessage, host: string | undefined): void {
  const [, scheme = '', targetHost] = ABSOLUTE.exec(url) ?? []
  if (targetHost === undefined || host === undefined) return
  const port = DEFAULT_PORTS[scheme.toLowerCase()] ?? ''
  const plain = (name: string): string =>
    name.toLowerCase().endsWith(port)
      ? name.toLowerCase().slice(0, -port.length)
      : name.toLowerCase()
  if (plain(targetHost) === plain(host)) return
  throw invalid(
    `The request target names the host ${JSON.stringify(targetHost)}, and the Host header ${JSON.stringify(host)}. Send the same in both, or a target that begins with "/".`,
  )
}

/** First name of {@link ONCE} that occurs twice in the list of names and values. */
function repeated(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>()
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!ONCE.has(name)) continue
    if (seen.has(name)) return name
    seen.add(name)
  }
  return undefined
}

const invalid = (detail: string): CoatcheckError => new CoatcheckError('invalid_request', detail)
