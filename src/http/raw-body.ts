/**
 * Raw bodies: a small one, and any JSON, is taken whole; a larger one is handed on in pieces, which come no faster than they
 * are taken. Neither grows past its limit, whether or not the client told a length.
 */
import { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { CoatcheckError } from '../core/errors.ts'
import type { Media } from './media.ts'

/**
 * Up to here a body is taken whole: one message to the writer and one commit, where pieces take at least three messages and two
 * commits. Past it that is little beside the bytes themselves, and what many puts at a time hold in memory starts to count.
 */
export const WHOLE_BODY_BYTES = 1_048_576

/** Whether a request says that it has a body. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** How large bodies may be. */
export interface RawLimits {
  readonly maxJsonBodyBytes: number
  readonly maxRawBodyBytes: number
}

/** A raw body with what it is. */
export class RawBody {
  readonly media: Media
  readonly content: Buffer | AsyncIterable<Uint8Array>

  constructor(media: Media, content: Buffer | AsyncIterable<Uint8Array>) {
    this.media = media
    this.content = content
  }
}

type LimitName = 'json_body_bytes' | 'raw_body_bytes'

export function bodyTooLarge(limit: LimitName, value: number): CoatcheckError {
  const detail = `The body has more than ${value} bytes, the limit (${limit}).`
  return new CoatcheckError('body_too_large', detail, { limit, value })
}

/** Throws `body_too_large`, and `invalid_request` for a body that breaks off; so do the pieces. `declaredBytes`: 0 where no length is told. */
export async function readRaw(
  media: Media,
  { stream, declaredBytes }: { readonly stream: Readable; readonly declaredBytes: number },
  limits: RawLimits,
): Promise<RawBody> {
  const isJson = media.kind === 'json'
  const limitBytes = isJson ? limits.maxJsonBodyBytes : limits.maxRawBodyBytes
  const tooLarge = (): CoatcheckError =>
    bodyTooLarge(isJson ? 'json_body_bytes' : 'raw_body_bytes', limitBytes)
  if (declaredBytes > limitBytes) throw tooLarge()
  const wholeBytes = isJson ? limitBytes : Math.min(limitBytes, WHOLE_BODY_BYTES)
  // Of one that is to be handed on, something has to be there: until then it is nobody's business.
  const taken = await takeUpTo(stream, declaredBytes > wholeBytes ? 0 : wholeBytes)
  if (taken.ended) return new RawBody(media, Buffer.concat(taken.pieces))
  if (wholeBytes === limitBytes) throw tooLarge()
  return new RawBody(media, allPieces(taken.pieces, stream, { limitBytes, tooLarge }))
}

/** What comes until it ends, or is more than `maxBytes`; then the stream is left paused. */
function takeUpTo(
  stream: Readable,
  maxBytes: number,
): Promise<{ readonly pieces: readonly Buffer[]; readonly ended: boolean }> {
  return new Promise((resolve, reject) => {
    // Its events are over when the client went before this.
    if (stream.destroyed) return void reject(brokenOff())
    const pieces: Buffer[] = []
    let bytes = 0
    const leave = (): void => {
      stream.off('data', onData).off('end', onEnd).off('error', onError).off('close', onError)
    }
    const onData = (piece: Buffer): void => {
      pieces.push(piece)
      bytes += piece.length
      if (bytes <= maxBytes) return
      stream.pause()
      leave()
      resolve({ pieces, ended: false })
    }
    const onEnd = (): void => {
      leave()
      resolve({ pieces, ended: true })
    }
    const onError = (error?: Error): void => {
      leave()
      reject(brokenBy(error))
    }
    stream.on('data', onData).on('end', onEnd).on('error', onError).on('close', onError)
  })
}

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

/**
 * Gives back the memory of a piece that came from a socket, where nobody else has it. Until the collector comes to it, a fast
 * body would leave a hundred megabytes.
 */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}

/** What decoding says of a body is said; any other error is a client that went. */
const brokenBy = (error: unknown): CoatcheckError =>
  error instanceof CoatcheckError ? error : brokenOff()

export const brokenOff = (): CoatcheckError =>
  new CoatcheckError('invalid_request', 'The body broke off before its end.')
