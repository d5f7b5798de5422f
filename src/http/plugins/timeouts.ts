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
  app.addHook('onRequest', async (request, reply) => {
    const { raw } = request
    // A request from within the process has no connection.
    if (!hasBody(raw) || !(raw.socket instanceof Socket)) return
    const body = { request, reply, bytes: raw.socket.bytesRead, idle: 0 }
    arriving.add(body)
    raw.once('close', () => arriving.delete(body))
  })
  const connections = new Set<Connection>()
  app.server.on('connection', (socket) => {
    const connection = { socket, takenBytes: 0, idle: 0 }
    connections.add(connection)
    socket.once('close', () => connections.delete(connection))
  })
  const look = (): void => {
    for (const body of arriving) if (lookAt(body)) arriving.delete(body)
    for (const connection of connections) lookAtAnswer(connection)
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

interface Connection {
  readonly socket: Socket
  takenBytes: number
  /** Looks at which nothing had left, though something was there. */
  idle: number
}

function lookAtAnswer(connection: Connection): void {
  const { socket } = connection
  const takenBytes = bytesTaken(socket)
  const isStuck = socket.writableLength > 0 && takenBytes === connection.takenBytes
  connection.idle = isStuck ? connection.idle + 1 : 0
  connection.takenBytes = takenBytes
  if (connection.idle > LOOKS) socket.destroy()
}

/** What the system has taken of all that was written. `bytesWritten` counts a write as a whole when it begins, however large. */
function bytesTaken(socket: Socket): number {
  // Node's own names
  const { _handle: handle } = socket as Socket & {
    _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}
