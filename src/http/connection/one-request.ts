/**
 * One request of a connection at a time. Node's parser reads all requests of what arrived, and all of them are answered into memory,
 * whether or not the client takes the answers. Here the bytes after a request wait, unread, until the system has taken its
 * answer: a client that reads nothing has one answer, and what follows a request, be it malformed or the end of
 * the connection, never takes its answer away.
 */
import { type IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { MessageEnds } from './message-ends.ts'
import { type ParserInput, requireNodeHttp, takeParserInput } from './node-http.ts'
import { RequestMessage } from './request-message.ts'

const connections = new WeakMap<Socket, Connection>()

/** Options of the HTTP server; call {@link addOneRequest} with the application that has it. */
export const oneRequestMessages = {
  IncomingMessage: class extends RequestMessage {
    constructor(socket: Socket) {
      super(socket)
      connections.get(socket)?.begin(this)
    }
  },
  ServerResponse: class<Request extends IncomingMessage> extends ServerResponse<Request> {
    /** Node gives it options, too, which its type does not tell. */
    constructor(...given: [request: Request]) {
      super(...given)
      const [request] = given
      const connection = connections.get(request.socket)
      if (connection !== undefined) this.once('close', () => connection.answered(request))
    }
  },
}

/** Throws when this Node cannot be served with. */
export function addOneRequest(app: FastifyInstance): void {
  requireNodeHttp()
  app.server.on('connection', (socket) => {
    if (socket instanceof Socket) connections.set(socket, new Connection(socket))
  })
  app.server.on('clientError', (_error, socket) => {
    if (socket instanceof Socket) connections.get(socket)?.refuse()
  })
}

class Connection {
  readonly #socket: Socket
  readonly #parser: ParserInput
  readonly #ends = new MessageEnds()
  /** The last one that the parser began. */
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

  /** The parser has read the head of a request. */
  begin(request: IncomingMessage): void {
    this.#request = request
    this.#isAnswered = false
  }

  /** The answer was taken, or is given up. */
  answered(request: IncomingMessage): void {
    if (request === this.#request) this.#isAnswered = true
    // others get their turn before the next request of this client
    if (this.#rest !== undefined) setImmediate(() => this.#readRest())
    else {
      this.#goOn()
      this.#end()
    }
  }

  /** What comes now is no HTTP, and is dropped. */
  refuse(): void {
    this.#isRefused = true
    this.#rest = undefined
  }

  /** The request is all there, and its answer is not yet taken. */
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

/** The length of the body that a request says it has; 0 for one in chunks, whose end is found as that of a head. */
function bodyBytes(request: IncomingMessage | undefined): number {
  if (request === undefined || request.headers['transfer-encoding'] !== undefined) return 0
  return Number(request.headers['content-length'] ?? 0)
}
