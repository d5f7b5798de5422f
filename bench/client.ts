/**
 * A client that costs as little as it can, so that the server is what is measured: a kept-alive socket that writes requests
 * made beforehand.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Reply, ReplyReader } from './reply.ts'

const HOST = '127.0.0.1'
/** What a put answers for a new result; a retry would be no put. */
export const CREATED = 201
export const OK = 200

export interface TimedReply extends Reply {
  /** Milliseconds from the first byte sent to the first byte back, and to the last. */
  readonly firstMs: number
  readonly totalMs: number
}

interface Expected {
  readonly reader: ReplyReader
  readonly startedAt: number
  firstMs: number
  readonly resolve: (reply: TimedReply) => void
  readonly reject: (error: Error) => void
}

export class Client {
  readonly #socket: Socket
  readonly #status: number
  #expected: Expected | undefined

  private constructor(socket: Socket, status: number) {
    this.#socket = socket
    this.#status = status
    socket.setNoDelay(true)
    socket.on('data', (piece) => this.#receive(piece))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  /** Takes only answers of that `status`. */
  static async connect(port: number, status = OK): Promise<Client> {
    const socket = connect({ host: HOST, port })
    await once(socket, 'connect')
    return new Client(socket, status)
  }

  /** One request at a time. Throws for an answer of another status. */
  async send(request: Buffer): Promise<TimedReply> {
    const reply = this.#expect()
    this.#socket.write(request)
    return reply
  }

  /** The same in pieces, no faster than they are taken. */
  async upload(pieces: Iterable<Buffer>): Promise<TimedReply> {
    const reply = this.#expect()
    // also handled when writing is what fails
    reply.catch(() => undefined)
    for (const piece of pieces) {
      if (this.#socket.write(piece)) continue
      if (this.#expected === undefined) break
      await Promise.race([once(this.#socket, 'drain'), reply])
    }
    return reply
  }

  close(): void {
    this.#socket.destroy()
  }

  #expect(): Promise<TimedReply> {
    if (this.#expected !== undefined) throw new Error('the answer before has not come yet')
    if (this.#socket.destroyed) throw new Error('the connection is closed')
    const startedAt = performance.now()
    return new Promise((resolve, reject) => {
      const reader = new ReplyReader()
      this.#expected = { reader, startedAt, firstMs: Number.NaN, resolve, reject }
    })
  }

  #receive(piece: Buffer): void {
    const expected = this.#expected
    if (expected === undefined) return
    const passedMs = performance.now() - expected.startedAt
    if (Number.isNaN(expected.firstMs)) expected.firstMs = passedMs
    try {
      const reply = expected.reader.push(piece)
      if (reply === undefined) return
      if (reply.status !== this.#status) throw new Error(`${reply.status}: ${textOf(reply)}`)
      this.#expected = undefined
      expected.resolve({ ...reply, firstMs: expected.firstMs, totalMs: passedMs })
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  #fail(error: Error): void {
    const expected = this.#expected
    this.#expected = undefined
    this.#socket.destroy()
    expected?.reject(error)
  }
}

const textOf = ({ body }: Reply): string => Buffer.concat(body).toString()
export const jsonOf = (reply: Reply): Readonly<Record<string, unknown>> =>
  JSON.parse(textOf(reply)) as Record<string, unknown>
