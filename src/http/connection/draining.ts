/**
 * The rest of a body that was answered before it was there. It is read and dropped, since many clients look for an answer only
 * when they have sent everything; but not for ever, and of who has no token no more than a little.
 */
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const LOOK_MS = 100
const DRAIN_MS = 60_000
/** Of a request that is nobody's; about as much is on its way when the answer leaves. */
const STRANGERS_BYTES = 1_048_576

export function addDraining(app: FastifyInstance): void {
  app.addHook('onResponse', (request, _reply, done) => {
    const { raw } = request
    if (!raw.complete && !raw.destroyed && raw.socket instanceof Socket) drain(request)
    done()
  })
}

function drain({ raw, tenant }: FastifyRequest): void {
  const { socket } = raw
  const mostBytes = tenant === undefined ? STRANGERS_BYTES : Number.POSITIVE_INFINITY
  const from = socket.bytesRead
  const until = performance.now() + DRAIN_MS
  const timer = setInterval(() => {
    if (!raw.complete && (socket.bytesRead - from > mostBytes || performance.now() > until)) {
      socket.destroy()
    }
    if (raw.complete || raw.destroyed || socket.destroyed) clearInterval(timer)
  }, LOOK_MS).unref()
}
