/**
 * What one would write to keep results in Redis or PostgreSQL: the same Fastify, a put that takes the body whole, stores it
 * and answers with a transcript text. Nothing else that coatcheck does on a put. `node store-server.ts redis|postgres ADDRESS`.
 */
import Fastify from 'fastify'
import { shownText } from '../glue.ts'
import { connectPostgres, insertText } from '../peers/postgres.ts'
import { connectRedis } from '../peers/redis.ts'

const BODY_LIMIT_BYTES = 64 * 1024 * 1024
const CONNECTIONS = 16

type Keep = (id: string, text: string) => Promise<void>

const [kind, address = ''] = process.argv.slice(2)
const keep = kind === 'redis' ? await inRedis(address) : await inPostgres(address)
const app = Fastify({ bodyLimit: BODY_LIMIT_BYTES })
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
app.post('/results/:id', async ({ params, body }, reply) => {
  const { id } = params as { id: string }
  const text = body as string
  await keep(id, text)
  return reply.code(201).send({ handle: id, content: shownText(id, text) })
})
console.log(await app.listen({ host: '127.0.0.1', port: 0 }))

async function inRedis(socket: string): Promise<Keep> {
  const store = await connectRedis(socket)
  return (id, text) => store.set(id, text)
}

async function inPostgres(folder: string): Promise<Keep> {
  const pool = await connectPostgres(folder, CONNECTIONS)
  return (id, text) => insertText(pool, id, text)
}
