/**
 * Decodes request bodies with a `content-encoding` while they arrive. Each has one decoder, and its
 * reader sees no difference. Body limits count decoded bytes. A ratio bounds the decoded size of a
 * small body, and the window of a decoder counts as held bytes. A body that cannot be decoded to
 * its end, or with bytes after its end, is refused.
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
/** Decoded bytes up to which any ratio is allowed. */
const ANY_RATIO_BYTES = 1_048_576
const PIECE_BYTES = 65_536
const GZIP_WINDOW_BYTES = 32_768
/** 8 MiB, the largest window that a zstd body may have on the web (RFC 9659). */
const ZSTD_WINDOW_LOG = 23
const ZSTD_WINDOW_BYTES = 2 ** ZSTD_WINDOW_LOG
const ZSTD_WINDOW = '8 MiB'
/** Most frames of a body. Each needs a turn of a thread, however small it is. */
const FRAMES = 4_096

type Decoder = Transform & { readonly bytesWritten: number }

interface Codec {
  readonly decoder: Decoder
  /** Cuts a piece into parts that the decoder must get one by one. */
  readonly split: (piece: Buffer) => Iterable<Buffer>
  /** Throws when the stream is not complete, for a decoder that does not notice. */
  readonly end: () => void
  readonly windowBytes: () => number
}

const CODECS: ReadonlyMap<string, () => Codec> = new Map([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['zstd', unzstd],
])

/** One decoder reads all members of a gzip body and reuses its memory for each. */
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

/** Undefined without an encoding. Throws `unsupported_media_type`. */
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
  /** When it closes, the body is no longer read. */
  readonly answer: ServerResponse
}

/** The decoded body. Fastify compares its `receivedEncodedLength` with the content length. */
function decoded(encoded: Readable, how: Decoding): Readable {
  const input = { bytes: 0 }
  const output = Readable.from(decode(encoded, input, how), { objectMode: false })
  // The reader gets errors. One that comes after reading has stopped must not end the process.
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
    `The content-encoding ${JSON.stringify(encoding)} is not supported. Send the body unencoded, or with one of ${ACCEPTED}.`,
    { accept_encoding: ACCEPTED },
  )
