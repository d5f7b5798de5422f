/**
 * Replies: answers of ours as JSON, and those that carry callers' JSON, or values: bytes as they are, never serialized again.
 * What is read only while it is sent has a content length all the same: the reply is whole, or its connection breaks.
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

/** A longer reply is not copied together: its parts may stand in it often, and its client may be slow. */
const JOINED_BYTES = 262_144

/** A longer text is encoded by itself: beside any character past U+00FF, it would take two bytes a character until it is written. */
const LONG_CHARS = 16_384

/** An answer of ours as JSON. Bytes where it is long, which else are counted first and encoded again when they are written. */
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
