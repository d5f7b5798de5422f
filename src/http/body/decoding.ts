/**
 * Request bodies with a `content-encoding`: decoded while they arrive, in constant memory, so that what reads a body sees no
 * difference. Body limits count decoded bytes; a ratio bounds what a small body may come to. A body is decoded whole and well or
 * refused: nothing that follows an encoded stream is dropped.
 */
import { Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { bodySchema } from './json-body.ts'
import { hasBody } from './raw-body.ts'
import { brokenOff } from './read-body.ts'

const ACCEPTED = 'gzip, zstd'
/** Small bodies may be as repetitive as they like. */
const ANY_RATIO_BYTES = 1_048_576
const PIECE_BYTES = 65_536
/** 8 MiB, the largest window that a zstd body may have on the web (RFC 9659): a decoder's memory is what a client asks for. */
const ZSTD_WINDOW_LOG = 23
const ZSTD_WINDOW = '8 MiB'

/** Each frame takes a decoder of its own. */
const FRAMES = 4_096

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
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG }
  return createZstdDecompress({ chunkSize: PIECE_BYTES, params })
}

/** Decodes the bodies of calls that take one. Call it before the body parsers are added. */
export function addDecoding(
  app: FastifyInstance,
  { maxDecompressionRatio }: { readonly maxDecompressionRatio: number },
): void {
  app.addHook('preParsing', (request, _reply, payload, done) => {
    const open = takesBody(request) ? decoderOf(request) : undefined
    const isDecoded = open !== undefined && hasBody(request.raw)
    done(null, isDecoded ? decoded(payload as Readable, open, maxDecompressionRatio) : payload)
  })
}

const takesBody = (request: FastifyRequest): boolean =>
  bodySchema(request) !== undefined || request.routeOptions.config.rawBody === true

/** Undefined where there is nothing to decode. */
function decoderOf({ headers }: FastifyRequest): (() => Decoder) | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  const open = DECODERS.get(encoding)
  if (open === undefined) throw unsupported(encoding)
  return open
}

/** Fastify compares `receivedEncodedLength` with the content length. */
function decoded(encoded: Readable, open: () => Decoder, maxRatio: number): Readable {
  const input = { bytes: 0 }
  const count = (piece: Buffer): void => {
    input.bytes += piece.length
  }
  const output = Readable.from(decode(encoded, { open, maxRatio, count }), { objectMode: false })
  // Whoever reads it hears of errors; one that comes when nobody does any more is nobody's.
  output.on('error', () => undefined)
  return Object.defineProperty(output, 'receivedEncodedLength', { get: () => input.bytes })
}

interface Decoding {
  readonly open: () => Decoder
  readonly maxRatio: number
  /** Is told of every piece that comes. */
  readonly count: (piece: Buffer) => void
}

/** Frame after frame: Node's decoder of zstd ends with the first, and its encoder writes more than one. */
async function* decode(
  encoded: Readable,
  { open, maxRatio, count }: Decoding,
): AsyncGenerator<Buffer> {
  if (encoded.destroyed) throw brokenOff()
  encoded.on('data', count)
  const total = { consumed: 0, bytes: 0 }
  let rest: Buffer | undefined
  for (let frames = 1; rest === undefined || rest.length > 0; frames++) {
    if (frames > FRAMES) throw corrupt(`it has more than ${FRAMES} frames`)
    const decoder = open()
    const left = feed(encoded, decoder, rest)
    try {
      yield* bounded(decoder, total, maxRatio)
    } catch (error) {
      throw error instanceof CoatcheckError ? error : corruptBy(error as NodeJS.ErrnoException)
    } finally {
      encoded.unpipe(decoder)
      decoder.destroy()
    }
    total.consumed += decoder.bytesWritten
    rest = left()
  }
}

async function* bounded(
  decoder: Decoder,
  total: { readonly consumed: number; bytes: number },
  maxRatio: number,
): AsyncGenerator<Buffer> {
  for await (const piece of decoder as AsyncIterable<Buffer>) {
    total.bytes += piece.length
    const allowed = maxRatio * (total.consumed + decoder.bytesWritten)
    if (total.bytes > ANY_RATIO_BYTES && total.bytes > allowed) throw bomb(maxRatio)
    yield piece
  }
}

/**
 * Gives the decoder `rest` and what comes then, no faster than it takes it; it ends with its source, however that ends. Returns
 * how to get what it has not taken.
 */
function feed(encoded: Readable, decoder: Decoder, rest?: Buffer): () => Buffer {
  const fed: Buffer[] = []
  let dropped = 0
  const add = (piece: Buffer): void => {
    fed.push(piece)
    while (fed[0] !== undefined && dropped + fed[0].length <= decoder.bytesWritten) {
      dropped += fed[0].length
      fed.shift()
    }
  }
  const broken = (): void => {
    if (!encoded.readableEnded) decoder.destroy(brokenOff())
  }
  encoded.on('data', add).once('error', broken).once('close', broken)
  decoder.once('unpipe', () => {
    encoded.off('data', add).off('error', broken).off('close', broken)
    // Whoever takes the source away wants no more of it.
    if (!encoded.readableEnded) decoder.destroy()
  })
  if (rest !== undefined) {
    add(rest)
    decoder.write(rest)
  }
  encoded.pipe(decoder)
  return () => Buffer.concat(fed).subarray(decoder.bytesWritten - dropped)
}

const CORRUPT: Readonly<Record<string, string>> = {
  Z_BUF_ERROR: 'the compressed stream breaks off before its end',
  ZSTD_error_frameParameter_windowTooLarge: `its zstd window is larger than ${ZSTD_WINDOW}; compress it at a lower level, without a long window`,
}

const corruptBy = ({ code = '' }: NodeJS.ErrnoException): CoatcheckError =>
  corrupt(CORRUPT[code] ?? 'the compressed stream is corrupt')

const corrupt = (why: string): CoatcheckError =>
  new CoatcheckError('invalid_request', `The body is not what its content-encoding says: ${why}.`)

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
