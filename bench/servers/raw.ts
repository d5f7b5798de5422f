/**
 * The least there is: `node:http` that reads the whole body and answers its length.
 */
import { createServer } from 'node:http'

/** As long as coatcheck keeps an idle connection: others take their turns meanwhile. */
const KEEP_ALIVE_MS = 75_000

createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, reply) => {
  const pieces: Buffer[] = []
  request.on('data', (piece: Buffer) => pieces.push(piece))
  request.on('end', () => {
    const answer = JSON.stringify({ bytes: Buffer.concat(pieces).length })
    reply.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    reply.end(answer)
  })
}).listen(0, '127.0.0.1')
