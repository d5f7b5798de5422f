/**
 * Replies that carry callers' JSON, or values: bytes as they are, never serialized again. What is read only while it is sent
 * has a content length all the same: the reply is whole, or its connection breaks.
 */
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { JsonSlice } from '../core/json/slice.ts'
import {
  type JsonParts,
  partBytes,
  readParts,
  type Splice,
  spliceParts,
} from '../core/json/splice.ts'

/** What is written at once: little at first, so that the first byte leaves early, then more, since each write costs. */
const FIRST_WRITE_BYTES = 65_536
const WRITE_BYTES = 1_048_576

export function sendSpliced(
  reply: FastifyReply,
  value: Splice<JsonSlice | JsonParts>,
  status = 200,
): FastifyReply {
  const parts = spliceParts(value)
  reply.code(status).type('application/json; charset=utf-8')
  if (parts.every(Buffer.isBuffer)) return reply.send(Buffer.concat(parts))
  const totalBytes = parts.reduce((bytes, part) => bytes + partBytes(part), 0)
  return sendPieces(reply, readParts(parts), totalBytes)
}

/** Sends what `pieces` yields, which has to be `totalBytes` in all, as fast as the client takes it. */
export function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<Buffer>,
  totalBytes: number,
): FastifyReply {
  const writes = Readable.from(writesOf(pieces, totalBytes), { objectMode: false })
  return reply.header('content-length', totalBytes).send(writes)
}

async function* writesOf(
  pieces: AsyncIterable<Buffer>,
  totalBytes: number,
): AsyncGenerator<Buffer> {
  let held: Buffer[] = []
  let heldBytes = 0
  let leftBytes = totalBytes
  let enoughBytes = FIRST_WRITE_BYTES
  for await (const piece of pieces) {
    held.push(piece)
    heldBytes += piece.length
    leftBytes -= piece.length
    if (heldBytes < enoughBytes && leftBytes > 0) continue
    yield Buffer.concat(held)
    held = []
    heldBytes = 0
    enoughBytes = Math.min(2 * enoughBytes, WRITE_BYTES)
  }
  if (leftBytes !== 0) throw new Error(`a reply of ${totalBytes} bytes lacks ${leftBytes}`)
}
