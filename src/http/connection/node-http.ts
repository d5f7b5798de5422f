/**
 * Internals of Node's HTTP server (24) that this service uses. They are not documented.
 * {@link requireNodeHttp} fails at the start when one that requests depend on is missing.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

const ON_DATA = 'bound socketOnData'
const ON_END = 'bound socketOnEnd'

/** Input of the parser of a connection. */
export interface ParserInput {
  data(piece: Buffer): void
  /** Marks the end of the client's bytes. */
  end(): void
}

/**
 * Takes over the bytes of a connection and returns the input of its parser. After the socket is
 * destroyed nothing may be passed in: the parser may belong to another connection by then. Throws
 * when this Node has no such parser.
 */
export function takeParserInput(socket: Duplex): ParserInput {
  const data = takeListener(socket, 'data', ON_DATA)
  const end = takeListener(socket, 'end', ON_END)
  return { data: (piece) => data.call(socket, piece), end: () => end.call(socket) }
}

type Listener = (this: Duplex, piece?: Buffer) => void

function takeListener(socket: Duplex, event: 'data' | 'end', name: string): Listener {
  const listener = socket.listeners(event).find((one) => one.name === name)
  if (listener === undefined) {
    throw new Error(`Node ${process.version} has no ${name}, which requests are read with`)
  }
  socket.removeListener(event, listener as Listener)
  return listener as Listener
}

/** Answer in progress on a connection; undefined between two answers. */
export function answerOn(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null }
  return answer ?? undefined
}

/** Keeps a connection open after an answer with `connection: close`. */
export function keepOpenAfter(answer: ServerResponse): void {
  Object.assign(answer, { _last: false })
}

/**
 * Bytes that the system has taken of all that was written. The socket's `bytesWritten` counts a
 * whole write as soon as it begins.
 */
export function bytesTaken(socket: Socket): number {
  const { _handle: handle } = socket as Socket & {
    _handle?: { readonly bytesWritten: number; readonly writeQueueSize: number } | null
  }
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0
}

/** Throws when this Node does not read requests as {@link takeParserInput} expects. */
export function requireNodeHttp(): void {
  const server = createServer()
  const socket = new Duplex({ read: () => undefined })
  server.emit('connection', socket)
  takeParserInput(socket)
  socket.destroy()
}
