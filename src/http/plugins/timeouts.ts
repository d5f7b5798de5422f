/**
 * Clients that begin a request and do not go on. Headers have a time to arrive in. A body has as long as it takes, since a stream
 * may be large or come from a tool that works: it only has to go on arriving. An answer, in the same way, has to go on leaving.
 * What waits because the service does not take or send it is never given up, nor is a client that waits for its answer.
 */
import type { ServerOptions } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseConnection } from '../problems.ts'
import { hasBody } from '../raw-body.ts'

const MS_PER_SECOND = 1000
/** How often in its time something is looked at. */
const LOOKS = 4

export interface Timeouts {
  /** From the first byte of a request to the last of its headers. */
  readonly headersSeconds: number
  /** Without any byte of a body, or of an answer. */
  readonly bodyIdleSeconds: number
}

/** What Node itself looks after. */
export function serverTimeouts({ headersSeconds }: Timeouts): ServerOptions {
  const headersTimeout = headersSeconds * MS_PER_SECOND
  return { headersTimeout, connectionsCheckingInterval: headersTimeout / LOOKS }
}

interface Arriving {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  bytes: number
  /** Looks at which nothing had come. */
  idle: number
}

export function addTimeouts(app: FastifyInstance, { bodyIdleSeconds }: Timeouts): void {
  const arriving = new Set<Arriving>()
  const connections = new Map<Socket, Leaving>()
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request
    const { socket } = raw
    // A request from within the process has no connection.
    if (!(socket instanceof Socket)) return
    if (!connections.has(socket)) {
      connections.set(socket, { takenBytes: 0, idle: 0 })
      socket.once('close', () => connections.delete(socket))
    }
    if (!hasBody(raw)) return
    const body = { request, reply, bytes: socket.bytesRead, idle: 0 }
    arriving.add(body)
    raw.once('close', () => arriving.delete(body))
  })
  const look = (): void => {
    for (const body of arriving) if (lookAt(body)) arriving.delete(body)
    for (const [socket, answer] of connections) lookAtAnswer(socket, answer)
  }
  const timer = setInterval(look, (bodyIdleSeconds * MS_PER_SECOND) / LOOKS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

/** Whether it need not be looked at again: it is all there, or was given up. */
function lookAt(body: Arriving): boolean {
  const { raw } = body.request
  if (raw.complete || raw.destroyed) return true
  const { bytesRead } = raw.socket
  const isOurs = raw.readableLength > 0
  body.idle = bytesRead === body.bytes && !isOurs ? body.idle + 1 : 0
  body.bytes = bytesRead
  if (body.idle <= LOOKS) return false
  if (body.reply.raw.headersSent) raw.socket.destroy()
  else refuseConnection({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, raw.socket)
  return true
}

/** What leaves by a connection. */
interface Leaving {
  takenBytes: number
  /** Looks at which nothing had left, though something was there. */
  idle: number
}

function lookAtAnswer(socket: Socket, answer: Leaving): void {
  const takenBytes = bytesTaken(socket)
  const isStuck = socket.writableLength > 0 && takenBytes === answer.takenBytes
  answer.idle = isStuck ? answer.idle + 1 : 0
  answer.takenBytes = takenBytes
  if (answer.idle > LOOKS) socket.destroy()
}

/** What the system has taken of all that was written. `bytesWritten` counts a write as a whole when it begins, however large. */
function bytesTaken(socket: Socket): number {
  // Node's own names
  const { _handle: handle } = socket as Socket & {
    _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
