/**
 * Clients that begin a request and do not go on. Headers have a time to arrive in. A body has as long as it takes, since a stream
 * may be large or come from a tool that works: it only has to go on arriving. An answer, in the same way, has to go on leaving.
 * What waits because the service does not take or send it is never given up, nor is a client that waits for its answer.
 */
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { hasBody } from '../body/raw-body.ts'
import { refuseConnection } from '../problems/problems.ts'
import { bytesTaken } from './node-http.ts'

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

interface Connection {
  /** Of its last request: those before it are all here. */
  body: Arriving | undefined
  /** What has left by it. */
  takenBytes: number
  /** Looks at which nothing had left, though something was there. */
  idle: number
}

interface Arriving {
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  bytes: number
  /** Looks at which nothing had come. */
  idle: number
}

export function addTimeouts(app: FastifyInstance, { bodyIdleSeconds }: Timeouts): void {
  const connections = new Map<Socket, Connection>()
  app.addHook('onRequest', ({ raw }, reply, done) => {
    const { socket } = raw
    // A request from within the process has no connection.
    if (socket instanceof Socket) {
      const body = hasBody(raw) ? arriving(raw, reply.raw) : undefined
      const known = connections.get(socket)
      if (known === undefined) {
        connections.set(socket, { body, takenBytes: 0, idle: 0 })
        socket.once('close', () => connections.delete(socket))
      } else known.body = body
    }
    done()
  })
  const look = (): void => {
    for (const [socket, connection] of connections) {
      if (connection.body !== undefined && lookAtBody(connection.body)) connection.body = undefined
      lookAtAnswer(socket, connection)
    }
  }
  const timer = setInterval(look, (bodyIdleSeconds * MS_PER_SECOND) / LOOKS).unref()
  app.addHook('onClose', async () => clearInterval(timer))
}

const arriving = (raw: IncomingMessage, response: ServerResponse): Arriving => ({
  raw,
  response,
  bytes: raw.socket.bytesRead,
  idle: 0,
})

/** Whether it need not be looked at again: it is all there, or was given up. */
function lookAtBody(body: Arriving): boolean {
  const { raw, response } = body
  if (raw.complete || raw.destroyed) return true
  const { bytesRead } = raw.socket
  const isOurs = raw.readableLength > 0
  body.idle = bytesRead === body.bytes && !isOurs ? body.idle + 1 : 0
  body.bytes = bytesRead
  if (body.idle <= LOOKS) return false
  if (response.headersSent) raw.socket.destroy()
  else refuseConnection({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, raw.socket)
  return true
}

function lookAtAnswer(socket: Socket, answer: Connection): void {
  const takenBytes = bytesTaken(socket)
  const isStuck = socket.writableLength > 0 && takenBytes === answer.takenBytes
  answer.idle = isStuck ? answer.idle + 1 : 0
  answer.takenBytes = takenBytes
  if (answer.idle > LOOKS) socket.destroy()
}
