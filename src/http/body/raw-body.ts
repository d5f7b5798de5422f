/**
 * Raw bodies. A small one, and any JSON, is taken whole. A larger one is passed on in pieces, no
 * faster than they are taken. Limits hold whether or not the client declares a length.
 */
import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { CoatcheckError } from '../../core/errors.ts'
import { free } from '../../core/memory.ts'
import type { HeldPart } from './held-memory.ts'
import type { Media } from './media.ts'
import { brokenBy, joinPieces, type Taken, takeBody } from './read-body.ts'

/**
 * Longest body that is taken whole unless it is JSON. That needs one message to the writer and one
 * commit; pieces need at least three messages and two commits. For a longer body that matters
 * little, and the memory of many puts at a time matters more.
 */
export const WHOLE_BODY_BYTES = 1_048_576

/** Whether the headers of a request announce a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** Bytes of a body by its headers; undefined when they do not tell, or the body is encoded. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const { 'content-length': length, 'content-encoding': coding = 'identity' } = headers
  return length === undefined || coding.trim().toLowerCase() !== 'identity'
    ? undefined
    : Number(length)
}

/** Limits of the size of bodies. */
export interface RawLimits {
  readonly maxJsonBodyBytes: number
  readonly maxRawBodyBytes: number
}

/** A raw body and its media. */
export class RawBody {
  readonly media: Media
  readonly content: Buffer | AsyncIterable<Uint8Array>
  /** Declared length of a body in pieces, if any. */
  readonly declaredBytes: number | undefined

  constructor(
    media: Media,
    content: Buffer | AsyncIterable<Uint8Array>,
    declaredBytes?: number | undefined,
  ) {
    this.media = media
    this.content = content
    this.declaredBytes = declaredBytes
  }
}

type LimitName = 'json_body_bytes' | 'raw_body_bytes'

/** The problem of a body over a limit. */
export function bodyTooLarge(limit: LimitName, value: number): CoatcheckError {
  const detail = `The body has more than ${value} bytes, the limit (${limit}).`
  return new CoatcheckError('body_too_large', detail, { limit, value })
}

interface Source {
  readonly stream: Readable
  /** Undefined without a declared length. */
  readonly declaredBytes: number | undefined
  readonly held: HeldPart | undefined
}

/**
 * Reads a raw body. It and the pieces throw `body_too_large`, `overloaded`, and `invalid_request`
 * for a body that breaks off.
 */
export async function readRaw(
  media: Media,
  { stream, declaredBytes, held }: Source,
  limits: RawLimits,
): Promise<RawBody> {
  const told = declaredBytes ?? 0
  const isJson = media.kind === 'json'
  const limitBytes = isJson ? limits.maxJsonBodyBytes : limits.maxRawBodyBytes
  const tooLarge = (): CoatcheckError =>
    bodyTooLarge(isJson ? 'json_body_bytes' : 'raw_body_bytes', limitBytes)
  if (told > limitBytes) throw tooLarge()
  const wholeBytes = isJson ? limitBytes : Math.min(limitBytes, WHOLE_BODY_BYTES)
  // A body that will be passed on in pieces is passed on as soon as its first bytes are here.
  const maxBytes = told > wholeBytes ? 0 : wholeBytes
  if (maxBytes > 0) held?.requireRoom(told)
  const taken = await take(stream, { maxBytes, held })
  if (taken.ended) return new RawBody(media, joinPieces(taken.pieces, stream))
  if (wholeBytes === limitBytes) throw tooLarge()
  held?.release()
  const pieces = allPieces(taken.pieces, stream, { limitBytes, tooLarge })
  return new RawBody(media, pieces, declaredBytes)
}

const take = (
  stream: Readable,
  bounds: { readonly maxBytes: number; readonly held: HeldPart | undefined },
): Promise<Taken> =>
  new Promise((resolve, reject) => {
    takeBody(stream, bounds, (error, taken) =>
      taken === undefined ? reject(error as Error) : resolve(taken),
    )
  })

/**
 * Pieces taken so far and those to come. Each is freed when the next is taken. A reader that stops
 * early leaves the stream open, so that the rest can be read.
 */
async function* allPieces(
  first: readonly Buffer[],
  stream: Readable,
  {
    limitBytes,
    tooLarge,
  }: { readonly limitBytes: number; readonly tooLarge: () => CoatcheckError },
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for (const piece of first) {
    bytes += piece.length
    yield piece
  }
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false })) {
      bytes += (piece as Buffer).length
      if (bytes > limitBytes) break
      yield piece as Buffer
      if (stream instanceof IncomingMessage) free(piece as Buffer)
    }
  } catch (error) {
    throw brokenBy(error)
  }
  if (bytes > limitBytes) throw tooLarge()
}
