/**
 * Replies: answers of ours as JSON, and those that carry callers' JSON, or values: bytes as they are, never serialized again.
 * What is read only while it is sent has a content length all the same: the reply is whole, or its connection breaks.
 */
import type { FastifyReply } from 'fastify'
import type { JsonSlice } from '../core/json/slice.ts'
import {
  type JsonParts,
  partBytes,
  readParts,
  type Splice,
  spliceParts,
} from '../core/json/splice.ts'
import { PieceStream } from './piece-stream.ts'

/** A longer reply is not copied together: its parts may stand in it often, and its client may be slow. */
const JOINED_BYTES = 262_144

/** Past it a text is encoded once, which else is done to count its bytes and again to write it. */
const ENCODED_CHARS = 4_096

/** An answer of ours as JSON. */
export function serialize(answer: unknown): string | Buffer {
  const text = JSON.stringify(answer)
  return text.length > ENCODED_CHARS ? Buffer.from(text) : text
}

export function sendSpliced(
  reply: FastifyReply,
  value: Splice<JsonSlice | JsonParts>,
  status = 200,
): FastifyReply {
  const parts = spliceParts(value)
  reply.code(status).type('application/json; charset=utf-8')
  const totalBytes = parts.reduce((bytes, part) => bytes + partBytes(part), 0)
  if (totalBytes <= JOINED_BYTES && parts.every(Buffer.isBuffer)) {
    return reply.send(Buffer.concat(parts, totalBytes))
  }
  return sendPieces(reply, readParts(parts), totalBytes)
}

/** Sends what `pieces` yields, which has to be `totalBytes` in all, as fast as the client takes it. */
export function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<Buffer>,
  totalBytes: number,
): FastifyReply {
  return reply.header('content-length', totalBytes).send(new PieceStream(pieces, totalBytes))
}
