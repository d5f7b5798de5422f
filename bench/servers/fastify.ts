/**
 * What a user would write in an afternoon, on the same Fastify: the baselines of puts, of streams and of large replies. Takes
 * the folder for its file as its argument.
 */
import { createWriteStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import Fastify from 'fastify'
import { rowsJson } from '../data.ts'

const BODY_LIMIT_BYTES = 1_000_000_000
const STATIC_BYTES = 10_000_000

const [folder = '.'] = process.argv.slice(2)
const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES })
app.removeAllContentTypeParsers()

await app.register(async (whole) => {
  whole.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  whole.post('/echo', async ({ body }) => ({ bytes: (body as Buffer).length }))
  whole.post('/parse', async ({ body }) => {
    const parsed = JSON.parse((body as Buffer).toString()) as object
    return { bytes: (body as Buffer).length, members: Object.keys(parsed).length }
  })
})

await app.register(async (streamed) => {
  streamed.addContentTypeParser('*', (_request, body, done) => done(null, body))
  streamed.post('/append', async ({ body }) => {
    const path = join(folder, 'appended')
    await pipeline(body as Readable, createWriteStream(path, { flags: 'w' }))
    const file = await open(path, 'r+')
    await file.datasync()
    await file.close()
    return { kept: true }
  })
})

const reply = rowsJson(STATIC_BYTES)
app.get('/static', async (_request, answer) =>
  answer.header('content-type', 'application/json').send(reply),
)

await app.listen({ port: 0, host: '127.0.0.1' })
