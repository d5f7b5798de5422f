/**
 * Ends requests whose client does not go on. Headers must arrive within a time. A body has no time
 * limit, since it may be large or come from a tool that is working, but its bytes must keep
 * arriving. In the same way the bytes of an answer must keep leaving. Waiting that the service
 * itself causes never ends a request.
 */
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { hasBody } from '../body/raw-body.ts'
import { refuseConnection } from '../problems/problems.ts'
import { bytesTaken } from './node-http.ts'

const MS_PER_SECOND = 1000
/** Checks per timeout. */
const LOOKS = 4

/** Timeouts of requests. */
export interface Timeouts {
  /** Time from the first byte of a request to the end of its headers. */
  readonly headersSeconds: number
  /** Time without any byte of a body or of an answer. */
  readonly bodyIdleSeconds: number
}

/** Options for the timeouts that Node itself checks. */
export function serverTimeouts({ headersSeconds }: Timeouts): ServerOptions {
  const headersTimeout = headersSeconds * MS_PER_SECOND
  return { headersTimeout, connectionsCheckingInterval: headersTimeout / LOOKS }
}

interface Connection {
  /** Body of its last request; earlier ones are complete. */
  body: Arriving | undefined
  /** Bytes of answers that have left. */
  takenBytes: number
  /** Checks in a row at which no byte had left although some were waiting. */
  idle: number
}

interface Arriving {
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  bytes: number
  /** Checks in a row at which no byte had come. */
  idle: number
}

/** Adds the checks of bodies and answers. */
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

/** Checks a body. True when it needs no further check: it is complete or was given up. */
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
