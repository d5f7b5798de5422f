/**
 * Request bodies with a `content-encoding`: decoded while they arrive, in constant memory, so that what reads a body sees no
 * difference. Body limits count decoded bytes; a ratio bounds what a small body may come to. A body is decoded whole and well or
 * refused: nothing that follows an encoded stream is dropped.
 */
import { Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { bodySchema } from '../body.ts'
import { brokenOff, hasBody } from '../raw-body.ts'

const ACCEPTED = 'gzip, zstd'
/** Small bodies may be as repetitive as they like. */
const ANY_RATIO_BYTES = 1_048_576
const PIECE_BYTES = 65_536
/** 8 MiB, the largest window that a zstd body may have on the web (RFC 9659): a decoder's memory is what a client asks for. */
const ZSTD_WINDOW_LOG = 23

type Decoder = Transform & { readonly bytesWritten: number }

const DECODERS: ReadonlyMap<string, () => Decoder> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['zstd', unzstd],
])

function gunzip(): Decoder {
  return createGunzip({ chunkSize: PIECE_BYTES })
}

function unzstd(): Decoder {
  return createZstdDecompress({
    chunkSize: PIECE_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG },
    rejectGarbageAfterEnd: true,
  })
}

/** Decodes the bodies of calls that take one. Call it before the body parsers are added. */
export function addDecoding(
  app: FastifyInstance,
  { maxDecompressionRatio }: { readonly maxDecompressionRatio: number },
): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? ''
    if (encoding === '' || encoding === 'identity' || !takesBody(request)) return payload
    const open = DECODERS.get(encoding)
    if (open === undefined) throw unsupported(encoding)
    return hasBody(request.raw)
      ? decoded(payload as Readable, open(), maxDecompressionRatio)
      : payload
  })
}

const takesBody = (request: FastifyRequest): boolean =>
  bodySchema(request) !== undefined || request.routeOptions.config.rawBody === true

/** What comes out of `decoder`. Fastify compares `receivedEncodedLength` with the content length. */
function decoded(encoded: Readable, decoder: Decoder, maxRatio: number): Readable {
  const input = { bytes: 0 }
  const output = Readable.from(decode(encoded, { decoder, input, maxRatio }), { objectMode: false })
  // Whoever reads it hears of errors; one that comes when nobody does any more is nobody's.
  output.on('error', () => undefined).once('close', () => decoder.destroy())
  return Object.defineProperty(output, 'receivedEncodedLength', { get: () => input.bytes })
}

interface Decoding {
  readonly decoder: Decoder
  readonly input: { bytes: number }
  readonly maxRatio: number
}

async function* decode(
  encoded: Readable,
  { decoder, input, maxRatio }: Decoding,
): AsyncGenerator<Buffer> {
  if (encoded.destroyed) throw brokenOff()
  feed(encoded, decoder, input)
  let bytes = 0
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > ANY_RATIO_BYTES && bytes > maxRatio * decoder.bytesWritten) throw bomb(maxRatio)
      yield piece
    }
  } catch (error) {
    throw error instanceof CoatcheckError ? error : corrupt(error as NodeJS.ErrnoException)
  } finally {
    encoded.unpipe(decoder)
  }
  if (decoder.bytesWritten !== input.bytes) throw corrupt({ code: TRAILING })
}

/** Gives the decoder what comes, no faster than it takes it; it ends with its source, however that ends. */
function feed(encoded: Readable, decoder: Decoder, input: { bytes: number }): void {
  const broken = (): void => {
    if (!encoded.readableEnded) decoder.destroy(brokenOff())
  }
  encoded.once('error', broken).once('close', broken)
  decoder.once('unpipe', () => {
    encoded.off('error', broken).off('close', broken)
    if (!encoded.readableEnded) decoder.destroy()
  })
  encoded.pipe(decoder)
  encoded.on('data', (piece: Buffer) => {
    input.bytes += piece.length
  })
}

const TRAILING = 'ERR_TRAILING_JUNK_AFTER_STREAM_END'
const CORRUPT: Readonly<Record<string, string>> = {
  [TRAILING]: 'bytes follow the end of the compressed stream; a zstd body is one frame',
  Z_BUF_ERROR: 'the compressed stream breaks off before its end',
  ZSTD_error_frameParameter_windowTooLarge: `its zstd window is larger than ${2 ** (ZSTD_WINDOW_LOG - 20)} MiB; compress it at a lower level, without a long window`,
}

function corrupt({ code = '' }: { readonly code?: string | undefined }): CoatcheckError {
  const why = CORRUPT[code] ?? 'the compressed stream is corrupt'
  return new CoatcheckError(
    'invalid_request',
    `The body is not what its content-encoding says: ${why}.`,
  )
}

const bomb = (value: number): CoatcheckError =>
  new CoatcheckError(
    'body_too_large',
    `The body comes to more than ${value} times its compressed size, the limit (decompression_ratio). Send it without content-encoding.`,
    { limit: 'decompression_ratio', value },
  )

const unsupported = (encoding: string): CoatcheckError =>
  new CoatcheckError(
    'unsupported_media_type',
    `The content-encoding ${JSON.stringify(encoding)} is not taken. Send the body as it is, or with one of ${ACCEPTED}.`,
    { accept_encoding: ACCEPTED },
  )
