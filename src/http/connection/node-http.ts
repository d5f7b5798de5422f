/**
 * All that is borrowed from the inside of Node's HTTP server (24): names that no documentation promises. {@link requireNodeHttp}
 * fails at the start where one of those that requests depend on is gone.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'

const ON_DATA = 'bound socketOnData'
const ON_END = 'bound socketOnEnd'

/** What the server does with the bytes of a connection. */
export interface ParserInput {
  data(piece: Buffer): void
  /** The client sends no more. */
  end(): void
}

/**
 * Takes the bytes of a connection away from the server's parser, and returns how to give them to it. Nothing may be given to it
 * when the socket is destroyed: its parser may be another connection's by then.
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

/** The answer that is being made for, or sent to, a connection; undefined between two of them. */
export function answerOn(socket: Duplex): ServerResponse | undefined {
  const { _httpMessage: answer } = socket as { _httpMessage?: ServerResponse | null }
  return answer ?? undefined
}

/** Keeps a connection open after an answer that says that it will be closed. */
export function keepOpenAfter(answer: ServerResponse): void {
  Object.assign(answer, { _last: false })
}

/**
 * How many bytes the system has taken of all that was written. `bytesWritten` counts a write as a whole when it begins, however
 * large.
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
