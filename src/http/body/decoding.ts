/**
 * Request bodies with a `content-encoding`: decoded while they arrive, by one decoder a body, so that what reads a body sees no
 * difference. Body limits count decoded bytes. A ratio bounds what a small body may come to, and what a decoder keeps counts as held
 * memory. A body is decoded whole and well or refused: nothing that follows an encoded stream is dropped.
 */
import type { ServerResponse } from 'node:http'
import { Readable, type Transform } from 'node:stream'
import { constants, createGunzip, createZstdDecompress } from 'node:zlib'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { CoatcheckError } from '../../core/errors.ts'
import { DecoderFeed } from './decoder-feed.ts'
import type { HeldMemory, HeldPart } from './held-memory.ts'
import { takesBody } from './json-body.ts'
import { hasBody } from './raw-body.ts'
import { brokenOff } from './read-body.ts'
import { FrameError, ZstdFrames } from './zstd-frames.ts'

const ACCEPTED = 'gzip, zstd'
/** Small bodies may be as repetitive as they like. */
const ANY_RATIO_BYTES = 1_048_576
const PIECE_BYTES = 65_536
const GZIP_WINDOW_BYTES = 32_768
/** 8 MiB, the largest window that a zstd body may have on the web (RFC 9659). */
const ZSTD_WINDOW_LOG = 23
const ZSTD_WINDOW_BYTES = 2 ** ZSTD_WINDOW_LOG
const ZSTD_WINDOW = '8 MiB'
/** Each takes a turn of a thread, however small it is. */
const FRAMES = 4_096

type Decoder = Transform & { readonly bytesWritten: number }

interface Codec {
  readonly decoder: Decoder
  /** Cuts a piece into those that the decoder has to get one by one. */
  readonly split: (piece: Buffer) => Iterable<Buffer>
  /** Throws when what has come is no whole stream, where the decoder would not. */
  readonly end: () => void
  readonly windowBytes: () => number
}

const CODECS: ReadonlyMap<string, () => Codec> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['zstd', unzstd],
])

/** All members of a gzip body are read by one decoder, in memory that is set anew for each. */
function gunzip(): Codec {
  return {
    decoder: createGunzip({ chunkSize: PIECE_BYTES }),
    split: (piece) => [piece],
    end: () => undefined,
    windowBytes: () => GZIP_WINDOW_BYTES,
  }
}

function unzstd(): Codec {
  const frames = new ZstdFrames({ maxFrames: FRAMES, maxWindowBytes: ZSTD_WINDOW_BYTES })
  const params = { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG }
  return {
    decoder: createZstdDecompress({ chunkSize: PIECE_BYTES, params }),
    split: (piece) => frames.split(piece),
    end: () => frames.end(),
    windowBytes: () => frames.windowBytes,
  }
}

/** Decodes the bodies of calls that take one. Call it before the body parsers are added. */
export function addDecoding(
  app: FastifyInstance,
  { maxDecompressionRatio: maxRatio }: { readonly maxDecompressionRatio: number },
  held: HeldMemory,
): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    const open = takesBody(request) ? codecOf(request) : undefined
    if (open === undefined) return void done(null, payload)
    if (!hasBody(request.raw)) return void done(corrupt('it is empty'))
    const openWindow = (codec: Codec): HeldPart =>
      held.openWindow(request.tenant, codec.windowBytes)
    const how = { open, maxRatio, openWindow, answer: reply.raw }
    done(null, decoded(payload as Readable, how))
  })
}

/** Undefined where there is nothing to decode. */
function codecOf({ headers }: FastifyRequest): (() => Codec) | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === '' || encoding === 'identity') return undefined
  const open = CODECS.get(encoding)
  if (open === undefined) throw unsupported(encoding)
  return open
}

interface Decoding {
  readonly open: () => Codec
  readonly maxRatio: number
  readonly openWindow: (codec: Codec) => HeldPart
  /** When it closes, nobody reads the body any more. */
  readonly answer: ServerResponse
}

/** Fastify compares `receivedEncodedLength` with the content length. */
function decoded(encoded: Readable, how: Decoding): Readable {
  const input = { bytes: 0 }
  const output = Readable.from(decode(encoded, input, how), { objectMode: false })
  // Whoever reads it hears of errors; one that comes when nobody does any more is nobody's.
  output.on('error', () => undefined)
  return Object.defineProperty(output, 'receivedEncodedLength', { get: () => input.bytes })
}

async function* decode(
  encoded: Readable,
  input: { bytes: number },
  { open, maxRatio, openWindow, answer }: Decoding,
): AsyncGenerator<Buffer> {
  if (encoded.destroyed) throw brokenOff()
  const codec = open()
  const { decoder } = codec
  const window = openWindow(codec)
  window.begin((refusal) => decoder.destroy(refusal))
  const close = (): void => void decoder.destroy()
  answer.once('close', close)
  decoder.once('close', () => {
    answer.off('close', close)
    window.release()
  })
  const feed = new DecoderFeed(codec, input)
  feed.take(encoded)
  let bytes = 0
  try {
    for await (const piece of decoder as AsyncIterable<Buffer>) {
      bytes += piece.length
      if (bytes > ANY_RATIO_BYTES && bytes > maxRatio * decoder.bytesWritten) throw bomb(maxRatio)
      window.add(piece.length)
      yield piece
    }
    if (decoder.bytesWritten < input.bytes) throw corrupt('bytes follow the compressed stream')
  } catch (error) {
    throw refusalOf(error as Error)
  } finally {
    encoded.unpipe(feed)
    decoder.destroy()
  }
}

const FRAME_ERRORS: Readonly<Record<FrameError['kind'], string>> = {
  no_zstd: 'the compressed stream is corrupt',
  frames: `it has more than ${FRAMES} frames`,
  window: `its zstd window is larger than ${ZSTD_WINDOW}; compress it at a lower level, without a long window`,
  truncated: 'the compressed stream breaks off before its end',
}

function refusalOf(error: NodeJS.ErrnoException): CoatcheckError {
  if (error instanceof CoatcheckError) return error
  if (error instanceof FrameError) return corrupt(FRAME_ERRORS[error.kind])
  return corrupt(error.code === 'Z_BUF_ERROR' ? FRAME_ERRORS.truncated : FRAME_ERRORS.no_zstd)
}

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
