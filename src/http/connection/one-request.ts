/**
 * Handles one request of a connection at a time. Node's parser reads all requests that have
 * arrived, and all are answered into memory even if the client does not take the answers. Here the
 * bytes after a request wait unread until the system has taken its answer. So a client that reads
 * nothing has one answer in memory. Bytes after a request, or the end of the connection, never
 * cancel its answer.
 */
import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { MessageEnds } from './message-ends.ts'
import { type ParserInput, requireNodeHttp, takeParserInput } from './node-http.ts'
import { RequestMessage } from './request-message.ts'

const connections = new WeakMap<Socket, Connection>()

/** Options of the HTTP server. Call {@link addOneRequest} with its application. */
export const oneRequestMessages = {
  IncomingMessage: class extends RequestMessage {
    constructor(socket: Socket) {
      super(socket)
      connections.get(socket)?.begin(this)
    }
  },
  ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {
    /** Node also passes options, which the type does not show. */
    constructor(...given: [request: Request]) {
      super(...given)
      const [request] = given
      const connection = connections.get(request.socket)
      if (connection !== undefined) this.once('close', () => connection.answered(request))
    }
  },
}

/** Adds the order of requests. Throws when this Node lacks internals that it needs. */
export function addOneRequest(app: FastifyInstance): void {
  requireNodeHttp()
  app.server.on('connection', (socket) => {
    if (socket instanceof Socket) connections.set(socket, new Connection(socket))
  })
  app.server.on('clientError', (_error, socket) => {
    if (socket instanceof Socket) connections.get(socket)?.refuse()
  })
}

/** State of one connection. */
class Connection {
  readonly #socket: Socket
  readonly #parser: ParserInput
  readonly #ends = new MessageEnds()
  /** Last request that the parser began. */
  #request: IncomingMessage | undefined
  #isAnswered = true
  /** Unread bytes after a request. */
  #rest: Buffer | undefined
  #isPaused = false
  #hasEnded = false
  #isRefused = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#parser = takeParserInput(socket)
    socket.on('data', (piece: Buffer) => this.#arrive(piece))
    socket.on('end', () => {
      this.#hasEnded = true
      this.#end()
    })
  }

  /** Called when the parser has read the head of a request. */
  begin(request: IncomingMessage): void {
    this.#request = request
    this.#isAnswered = false
  }

  /** Called when the answer was taken or given up. */
  answered(request: IncomingMessage): void {
    if (request === this.#request) this.#isAnswered = true
    // Other clients get their turn before the next request of this one.
    if (this.#rest !== undefined) setImmediate(() => this.#readRest())
    else {
      this.#goOn()
      this.#end()
    }
  }

  /** Drops all further bytes, since the client sent no HTTP. */
  refuse(): void {
    this.#isRefused = true
    this.#rest = undefined
  }

  /** True when the request is complete and its answer is not taken yet. */
  get #isBusy(): boolean {
    return !this.#isAnswered && this.#request?.complete === true
  }

  #arrive(piece: Buffer): void {
    if (this.#isRefused) return
    if (this.#rest === undefined && !this.#isBusy) this.#read(piece)
    else this.#wait(piece)
  }

  #wait(piece: Buffer): void {
    this.#rest = this.#rest === undefined ? piece : Buffer.concat([this.#rest, piece])
    this.#isPaused = true
    this.#socket.pause()
  }

  #readRest(): void {
    const rest = this.#rest
    this.#rest = undefined
    if (rest !== undefined) this.#read(rest)
    if (this.#rest !== undefined || this.#isBusy) return
    this.#goOn()
    this.#end()
  }

  #read(piece: Buffer): void {
    for (let at = 0; at < piece.length && !this.#isOver; ) {
      if (this.#isBusy) {
        this.#rest = piece.subarray(at)
        return
      }
      const end = this.#ends.next(piece, at)
      const before = this.#request
      this.#parser.data(at === 0 && end === piece.length ? piece : piece.subarray(at, end))
      if (this.#request !== before) this.#ends.bodyFollows(bodyBytes(this.#request))
      at = end
    }
  }

  #goOn(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#socket.resume()
  }

  #end(): void {
    if (this.#hasEnded && !this.#isBusy && this.#rest === undefined && !this.#isOver)
      this.#parser.end()
  }

  get #isOver(): boolean {
    return this.#isRefused || this.#socket.destroyed || this.#socket.writableEnded
  }
}

/** Declared bytes of a body; 0 for one in chunks, which ends with an empty line as a head does. */
function bodyBytes(request: IncomingMessage | undefined): number {
  if (request === undefined || request.headers['transfer-encoding'] !== undefined) return 0
  return Number(request.headers['content-length'] ?? 0)
}
