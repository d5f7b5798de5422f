/** Timed requests to a service over connections that stay open, for the long checks. */
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

/** Answer to a request. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** Time from the first byte sent to the last byte received, in milliseconds. */
  readonly ms: number
}

/** Body and headers of a request. */
export interface Sent {
  readonly type?: string
  readonly body?: string | Buffer | readonly Buffer[]
  readonly headers?: Readonly<Record<string, string>>
}

/** Client of one service. */
export class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true })

  constructor(url: string) {
    this.#url = url
  }

  /**
   * Sends a request. The path is sent unchanged. A body of several pieces is sent without a length.
   * Rejects when the connection breaks.
   */
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

  /** Begins an upload and closes the connection before its end. */
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
