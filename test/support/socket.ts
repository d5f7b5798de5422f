// Requests over a socket as bytes, for what no HTTP client would send.
import { connect } from 'node:net'

export interface RawAnswer {
  /** The first status there is; NaN for none. */
  readonly status: number
  readonly head: string
  readonly body: string
}

/** Writes all of `bytes`, then reads until the other side closes the connection; a reset ends it as well. */
export function rawRequest(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect({ host: hostname, port: Number(port) })
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      answer += text
    })
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(parsed(answer)))
    socket.pause()
    socket.write(bytes, () => socket.resume())
  })
}

function parsed(answer: string): RawAnswer {
  const [head = '', ...rest] = answer.split('\r\n\r\n')
  const body = Buffer.from(rest.join('\r\n\r\n'), 'latin1').toString()
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]), head, body }
}
