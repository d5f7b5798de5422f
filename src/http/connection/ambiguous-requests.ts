/**
 * Requests that two readers could take for two different ones: what comes twice where once is meant, a body in a coding that is
 * not undone, no host. They are refused before anything else is asked. What is no HTTP at all never gets here.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'

/** Node would take the first of these, or join them to one. */
const ONCE: ReadonlySet<string> = new Set([
  'authorization',
  'coatcheck-tool-use-id',
  'content-encoding',
  'content-type',
  'host',
  'idempotency-key',
  'origin',
])

export function addFraming(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, done) => {
    requireOneReading(request)
    done()
  })
  // Node would answer an expectation that it does not know with a bare 417. It may be passed over, and is.
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
      `The transfer-encoding ${JSON.stringify(coding)} is not taken, only chunked. A compressed body is told by content-encoding.`,
    )
  }
  if (raw.headers.host === undefined && raw.httpVersion === '1.1')
    throw invalid('The request has no Host header.')
}

/** The first name of {@link ONCE} that comes twice in the list of names and values. */
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
