// Fault: small bodies took memory that had nothing to do with the bytes received, and kept it. 16 zstd bodies of 41 KB, in 4,096
// frames each, took the process from 127 to 1,358 MB, and nine rounds of them to 4,216 MB.
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { constants, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { residentBytes } from '../support/memory.ts'
import { type ServiceChild, startChild } from '../support/service.ts'
import { rawRequest } from '../support/socket.ts'

const SENT = 100
const AT_ONCE = 20
/** Room for what a busy process has not yet collected. */
const NOISE_BYTES = 120_000_000
const SHAPE_MS = 180_000

let service: ServiceChild
beforeAll(async () => {
  service = await startChild({ env: { COATCHECK_LOG_LEVEL: 'info' } })
})
afterAll(() => service.stop())

const PUT = 'POST /v1/runs/memory/results HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n'

const withLength = (headers: string, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${PUT}${headers}content-length: ${body.length}\r\n\r\n`), body])
const chunked = (headers: string, chunks: string): Buffer =>
  Buffer.from(`${PUT}${headers}transfer-encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`)
const times = (count: number, part: Buffer): Buffer => Buffer.concat(Array(count).fill(part))

const TEXT = 'content-type: text/plain\r\n'
const ZSTD = `${TEXT}content-encoding: zstd\r\n`
const GZIP = `${TEXT}content-encoding: gzip\r\n`
const wideWindow = zstdCompressSync(Buffer.alloc(100_000), {
  params: { [constants.ZSTD_c_windowLog]: 23, [constants.ZSTD_c_contentSizeFlag]: 0 },
})
const part = `--b\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\nx\r\n`
const headers = Array.from({ length: 900 }, (_, n) => `x-${n}: ${n}\r\n`).join('')

const SHAPES: readonly (readonly [string, Buffer])[] = [
  ['zstd frames of one byte', withLength(ZSTD, times(4_096, zstdCompressSync('x')))],
  ['zstd frames with a window of 8 MiB', withLength(ZSTD, times(300, wideWindow))],
  ['gzip members of one byte', withLength(GZIP, times(2_000, gzipSync('x')))],
  ['chunks of one byte', chunked(TEXT, '1\r\nx\r\n'.repeat(8_000))],
  ['chunks of one byte with extensions', chunked(TEXT, '1;a=b\r\nx\r\n'.repeat(2_000))],
  ['long chunk extensions', chunked(TEXT, `1;${'e'.repeat(100_000)}\r\nx\r\n`)],
  [
    'many parts of a form',
    withLength(
      'content-type: multipart/form-data; boundary=b\r\n',
      Buffer.from(part.repeat(5_000)),
    ),
  ],
  ['many headers', withLength(`${TEXT}${headers}`, Buffer.from('x'))],
  [
    'many trailers',
    Buffer.from(`${PUT}${TEXT}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n${headers}\r\n`),
  ],
]

describe('what is received does not stay in memory', () => {
  it.each(SHAPES)(
    `when it comes ${SENT} times as %s`,
    async (_, bytes) => {
      const before = residentBytes(service.pid).now
      for (let sent = 0; sent < SENT; sent += AT_ONCE) {
        const answers = Array.from({ length: AT_ONCE }, () => rawRequest(service.url, bytes))
        for (const { status } of await Promise.all(answers)) {
          expect([200, 201, 400, 413, 415]).toContain(status)
        }
      }
      const { now } = residentBytes(service.pid)
      expect(now - before).toBeLessThan(NOISE_BYTES)
    },
    SHAPE_MS,
  )

  it('at any time while it came', () => {
    expect(residentBytes(service.pid).peak).toBeLessThan(400_000_000)
  })
})

describe('a body that waits for its end', () => {
  const opened: Socket[] = []
  afterAll(() => {
    for (const socket of opened) socket.destroy()
  })

  const CONNECTIONS = 16
  const CHUNKS = 60_000

  /** Resolves when the service has read what was sent: it is idle, and answers at once. */
  const allRead = async (): Promise<void> => {
    for (let quick = 0; quick < 5; ) {
      await sleep(100)
      const start = performance.now()
      await fetch(`${service.url}/livez`)
      quick = performance.now() - start < 50 ? quick + 1 : 0
    }
  }

  // Fault: each chunk was an object of some hundred bytes until the body was whole.
  it('holds about as much as has been received, however small its chunks', async () => {
    const { hostname, port } = new URL(service.url)
    const before = residentBytes(service.pid).now
    const head = `${PUT}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`
    const bytes = Buffer.from(head + '1\r\n \r\n'.repeat(CHUNKS))
    for (let n = 0; n < CONNECTIONS; n++) {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.on('error', () => undefined).resume()
      opened.push(socket)
      await new Promise((resolve) => socket.write(bytes, resolve))
    }
    await allRead()
    const received = CONNECTIONS * bytes.length
    expect(residentBytes(service.pid).now - before).toBeLessThan(5 * received + NOISE_BYTES / 2)
  })
})
