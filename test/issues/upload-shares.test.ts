// Fault: 64 streams of one tenant, each at 150 kB/s, had all slots for values on their way; another tenant's texts of 2 MB were
// refused for as long as she liked.
import { writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { startApi } from '../support/api.ts'
import { temporaryFolder } from '../support/ledger.ts'

const UPLOADS = 64
/** Twice a batch of chunks every few seconds, so that no upload counts as quiet on a busy machine. */
const PIECE = Buffer.alloc(300_000, 'one line of text\n')
const LARGE = Buffer.alloc(2_000_000, 'one line of text\n')
const TOKENS = { first: 'first-tenant-token-0', second: 'second-tenant-token-0' }

const folder = temporaryFolder()
const file = join(folder.path, 'tokens')
writeFileSync(file, `first:${TOKENS.first}\nsecond:${TOKENS.second}\n`)
const api = await startApi({ COATCHECK_TOKENS_FILE: file })
const url = await api.listen()
const { host, port, hostname } = new URL(url)
const sockets: Socket[] = []
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await api.close()
  folder.remove()
})

const put = (token: string): Promise<Response> =>
  fetch(`${url}/v1/runs/large/results`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', authorization: `Bearer ${token}` },
    body: LARGE,
  })

it('a tenant whose streams have all slots gives way to another', async () => {
  let answers = ''
  for (let n = 0; n < UPLOADS; n++) {
    const socket = connect({ host: hostname, port: Number(port) })
    socket
      .on('error', () => undefined)
      .on('data', (piece) => {
        answers += String(piece)
      })
    socket.write(
      `POST /v1/runs/stream/results HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${TOKENS.first}\r\ncontent-type: text/plain\r\ncontent-length: 1000000000\r\n\r\n`,
    )
    sockets.push(socket)
  }
  const sending = setInterval(() => {
    for (const socket of sockets) if (socket.writableLength === 0) socket.write(PIECE)
  }, 1_000)
  try {
    // until her own next one is refused, all slots are hers
    while ((await put(TOKENS.first)).status !== 503) await sleep(100)
    for (let n = 0; n < 3; n++) expect((await put(TOKENS.second)).status).toBe(201)
    while (!answers.includes('"limit":"uploads"')) await sleep(100)
    expect(answers).toContain('made room for one of another tenant')
  } finally {
    clearInterval(sending)
  }
})
