/**
 * Raw bodies: a small one, and any JSON, is taken whole; a larger one is handed on in pieces, which come no faster than they
 * are taken. Neither grows past its limit, whether or not the client told a length.
 */
import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { CoatcheckError } from '../../core/errors.ts'
import { free } from '../../core/memory.ts'
import type { HeldPart } from './held-memory.ts'
import type { Media } from './media.ts'
import { brokenBy, joinPieces, type Taken, takeBody } from './read-body.ts'

/**
 * Up to here a body is taken whole: one message to the writer and one commit, where pieces take at least three messages and two
 * commits. Past it that is little beside the bytes themselves, and what many puts at a time hold in memory starts to count.
 */
export const WHOLE_BODY_BYTES = 1_048_576

/** Whether a request says that it has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** How long a body is, by its headers; undefined when they do not tell, or only how long it is in its content coding. */
export function declaredBytes({ headers }: IncomingMessage): number | undefined {
  const { 'content-length': length, 'content-encoding': coding = 'identity' } = headers
  return length === undefined || coding.trim().toLowerCase() !== 'identity'
    ? undefined
    : Number(length)
}

/** How large bodies may be. */
export interface RawLimits {
  readonly maxJsonBodyBytes: number
  readonly maxRawBodyBytes: number
}

/** A raw body with what it is. */
export class RawBody {
  readonly media: Media
  readonly content: Buffer | AsyncIterable<Uint8Array>
  /** Where a length is told, and the content is not here yet. */
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

export function bodyTooLarge(limit: LimitName, value: number): CoatcheckError {
  const detail = `The body has more than ${value} bytes, the limit (${limit}).`
  return new CoatcheckError('body_too_large', detail, { limit, value })
}

interface Source {
  readonly stream: Readable
  /** Undefined where no length is told. */
  readonly declaredBytes: number | undefined
  readonly held: HeldPart | undefined
}

/** Throws `body_too_large`, `overloaded`, and `invalid_request` for a body that breaks off; so do the pieces. */
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
  // Of one that is to be handed on, something has to be there: until then it is nobody's business.
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

/** The pieces taken so far and those to come, each gone when the next is taken. Whoever stops taking them leaves the stream as it is, to be read on. */
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
