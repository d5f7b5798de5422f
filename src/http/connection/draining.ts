/**
 * Reads and drops the rest of a body that was answered before it had arrived, since many clients
 * read the answer only when they have sent everything. The time is limited, and so are the bytes of
 * a client without a token.
 */
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const LOOK_MS = 100
const DRAIN_MS = 60_000
/** Limit for a request without a tenant. About as much is on its way when the answer leaves. */
const STRANGERS_BYTES = 1_048_576

/** Adds the draining of bodies after their answers. */
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
