/**
 * Calls without a body (GET, HEAD, DELETE). Any body but an empty one is refused: ignoring it would
 * hide a mistake such as `{"purge":true}` in the body of a DELETE. A content type without a body
 * has no meaning and is ignored.
 */
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { takesBody } from './json-body.ts'
import { hasBody } from './raw-body.ts'
import { brokenOff } from './read-body.ts'

/** Adds the check. Call it before the hooks that read or count bodies are added. */
export function addBodyless(app: FastifyInstance): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    if (takesBody(request)) return void done(null, payload)
    const { headers } = request.raw
    const goOn = (): void => {
      // Fastify would look for a parser of this type.
      delete headers['content-type']
      done(null, payload)
    }
    if (!hasBody(request.raw)) return void goOn()
    if (headers['transfer-encoding'] === undefined) return void done(notEmpty(request))
    endOf(payload as Readable, (error) => {
      if (error === undefined) goOn()
      else done(error === 'data' ? notEmpty(request) : brokenOff())
    })
  })
}

/** Calls `done` at the end of an empty stream, or with what came instead. */
function endOf(stream: Readable, done: (instead?: 'data' | 'close') => void): void {
  if (stream.destroyed) return void done('close')
  const finish = (instead?: 'data' | 'close'): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onClose).off('close', onClose)
    done(instead)
  }
  const onData = (): void => finish('data')
  const onEnd = (): void => finish()
  const onClose = (): void => finish('close')
  stream.on('data', onData).on('end', onEnd).on('error', onClose).on('close', onClose)
}

const notEmpty = ({ method }: FastifyRequest): CoatcheckError =>
  new CoatcheckError(
    'invalid_request',
    `This ${method} takes no body, and one was sent. Send the request without a body; its parameters go in the path and the query.`,
  )
