/**
 * Replies: own answers as JSON, and answers that contain callers' JSON or values. The bytes of
 * callers are copied, never serialized again. A reply that is read while it is sent has a content
 * length too: it is complete, or its connection breaks.
 */
import type { FastifyReply } from 'fastify'
import type { JsonSlice } from '../../core/json/slice.ts'
import {
  type JsonParts,
  partBytes,
  readParts,
  type Splice,
  spliceParts,
} from '../../core/json/splice.ts'
import { PieceStream } from './piece-stream.ts'

/** Largest reply that is joined in memory. In a larger one a part may occur many times. */
const JOINED_BYTES = 262_144

/**
 * Longest string that is encoded together with others. In one string with a character past U+00FF,
 * each of its characters would take two bytes until the answer is written.
 */
const LONG_CHARS = 16_384

/**
 * Serializes an own answer. A long one is returned as bytes: a string would be encoded once for its
 * length and again when it is written.
 */
export function serialize(answer: object): string | Buffer {
  const members = Object.entries(answer)
  return members.some(isLong) ? serializeApart(members) : JSON.stringify(answer)
}

type Member = readonly [name: string, value: unknown]

const isLong = ([, value]: Member): boolean =>
  typeof value === 'string' && value.length > LONG_CHARS

function serializeApart(members: readonly Member[]): Buffer {
  const parts: string[] = []
  let short: Member[] = []
  const endShort = (): void => {
    const members = JSON.stringify(Object.fromEntries(short)).slice(1, -1)
    if (members !== '') parts.push(',', members)
    short = []
  }
  for (const member of members) {
    if (!isLong(member)) {
      short.push(member)
      continue
    }
    endShort()
    const [name, value] = member
    parts.push(',', `${JSON.stringify(name)}:`, JSON.stringify(value))
  }
  endShort()
  parts[0] = '{'
  return Buffer.concat([...parts, '}'].map((part) => Buffer.from(part)))
}

/** Sends an answer that contains callers' JSON. */
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

/** Sends `pieces`, of `totalBytes` bytes in all, as fast as the client takes them. */
export function sendPieces(
  reply: FastifyReply,
  pieces: AsyncIterable<Buffer>,
  totalBytes: number,
): FastifyReply {
  return reply.header('content-length', totalBytes).send(new PieceStream(pieces, totalBytes))
}
