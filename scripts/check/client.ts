/** Requests to a service over connections that stay open, timed, for the long checks. */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** From the first byte sent to the last byte received. */
  readonly ms: number
}

export interface Sent {
  readonly type?: string
  readonly body?: string | Buffer | readonly Buffer[]
  readonly headers?: Readonly<Record<string, string>>
}

export class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor(url: string) {
    this.#url = url
  }

  /** The path goes as it is. A body of several pieces goes without a length. Rejects when the connection breaks. */
  send(
    method: string,
    path: string,
    { type, body = [], headers: more = {} }: Sent = {},
  ): Promise<Reply> {
    const startedAt = performance.now()
    const pieces = Array.isArray(body) ? body : [body]
    const headers = {
      ...more,
      ...(type === undefined ? {} : { 'content-type': type }),
      ...(pieces.length === 1 ? { 'content-length': Buffer.byteLength(pieces[0]) } : {}),
      ...(pieces.length > 1 ? { 'transfer-encoding': 'chunked' } : {}),
    }
    return new Promise((resolve, reject) => {
      const isLast = more['connection'] === 'close'
      const options = { method, path, headers, agent: isLast ? false : this.#agent }
      const sent = request(this.#url, options, (reply) => {
        read(reply).then((whole) => {
          resolve({
            status: reply.statusCode ?? 0,
            headers: reply.headers,
            body: whole,
            ms: performance.now() - startedAt,
          })
        }, reject)
      })
      sent.on('error', reject)
      for (const piece of pieces) sent.write(piece)
      sent.end()
    })
  }

  /** Begins an upload and breaks it off. */
  breakOff(path: string, { type = 'text/plain', body }: { type?: string; body: Buffer }) {
    return new Promise<void>((resolve) => {
      const headers = { 'content-type': type, 'content-length': 2 * body.length }
      const sent = request(this.#url + path, { method: 'POST', headers, agent: false })
      sent.on('error', () => resolve())
      sent.write(body, () => sent.destroy(new Error('broken off')))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

async function read(reply: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of reply) pieces.push(piece as Buffer)
  return Buffer.concat(pieces)
}
