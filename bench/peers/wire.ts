/**
 * A keep-alive HTTP client on a bare socket: one request at a time, bodies as bytes. It costs little beside what it
 * measures. Reads answers with a content length and no others.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

const HEAD_END = '\r\n\r\n'
const STATUS = /^HTTP\/1\.1 (\d{3}) /
const LENGTH = /\r\ncontent-length: (\d+)/i

export interface Answer {
  readonly status: number
  readonly body: Buffer
}

export interface Request {
  readonly method: string
  readonly path: string
  readonly type?: string
  readonly body?: Buffer
}

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

export class Wire {
  readonly #socket: Socket
  readonly #host: string
  #chunks: Buffer[] = []
  #received = 0
  #wanted = 0
  #head = ''
  #waiting: Waiting | undefined

  static async open(url: string): Promise<Wire> {
    const { hostname, port, host } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), noDelay: true })
    await once(socket, 'connect')
    return new Wire(socket, host)
  }

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the connection was closed')))
  }

  send({ method, path, type = 'text/plain', body }: Request): Promise<Answer> {
    const length = body?.length ?? 0
    const content =
      body === undefined ? '' : `content-type: ${type}\r\ncontent-length: ${length}\r\n`
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}\r\n${content}\r\n`
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#socket.cork()
      this.#socket.write(head)
      if (body !== undefined) this.#socket.write(body)
      this.#socket.uncork()
    })
  }

  close(): void {
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#received += chunk.length
    if (this.#head === '' && !this.#readHead()) return
    if (this.#received < this.#wanted) return
    const body = Buffer.concat(this.#chunks)
    const status = Number(STATUS.exec(this.#head)?.[1])
    const waiting = this.#waiting
    this.#chunks = []
    this.#received = 0
    this.#head = ''
    this.#waiting = undefined
    waiting?.resolve({ status, body })
  }

  /** Whether the head is complete; then only the body's bytes are left. */
  #readHead(): boolean {
    const bytes = Buffer.concat(this.#chunks)
    const end = bytes.indexOf(HEAD_END)
    if (end < 0) return false
    this.#head = bytes.toString('latin1', 0, end + HEAD_END.length)
    const length = LENGTH.exec(this.#head)?.[1]
    if (length === undefined) this.#fail(new Error(`no content length: ${this.#head}`))
    const rest = bytes.subarray(end + HEAD_END.length)
    this.#chunks = [rest]
    this.#received = rest.length
    this.#wanted = Number(length)
    return true
  }

  #fail(error: Error): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(error)
  }
}
