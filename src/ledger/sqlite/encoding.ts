/**
 * How a chunk's bytes are kept: as they are, or as one zstd frame with a checksum where that saves enough. The length of the
 * bytes is kept beside them, so that reading takes no more memory than was written.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CoatcheckError } from '../../core/errors.ts'

/** As in the column `encoding`. */
export const PLAIN = 0
export const ZSTD = 1

/** Smaller chunks are not worth the call. */
const ZSTD_BYTES = 4_096
/** A frame is kept when it leaves out at least this share of the bytes. */
const SAVED_EIGHTHS = 1
const EIGHTHS = 8

const ZSTD_OPTIONS = {
  params: {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_checksumFlag]: 1,
  },
}

export interface EncodedChunk {
  readonly encoding: number
  /** Of the bytes before encoding. */
  readonly length: number
  readonly bytes: Buffer
}

/** The smaller form of `bytes`; as they are for those that are `incompressible` by their kind. */
export function encodeChunk(
  bytes: Buffer,
  { incompressible }: { readonly incompressible: boolean },
): EncodedChunk {
  const plain = { encoding: PLAIN, length: bytes.length, bytes }
  if (incompressible || bytes.length < ZSTD_BYTES) return plain
  const frame = zstdCompressSync(bytes, ZSTD_OPTIONS)
  const pays = frame.length * EIGHTHS <= bytes.length * (EIGHTHS - SAVED_EIGHTHS)
  return pays ? { encoding: ZSTD, length: bytes.length, bytes: frame } : plain
}

/** The bytes again. Throws `ledger_corrupt` when they cannot be had, or are not as many as they were. */
export function decodeChunk(chunk: EncodedChunk): Buffer {
  const bytes = decoded(chunk)
  if (bytes.length === chunk.length) return bytes
  throw corrupt(`has ${bytes.length} bytes instead of ${chunk.length}`)
}

function decoded({ encoding, length, bytes }: EncodedChunk): Buffer {
  if (encoding === PLAIN) return bytes
  if (encoding !== ZSTD) throw corrupt(`has the unknown encoding ${encoding}`)
  try {
    // into one buffer, with room to see that there is no more
    return zstdDecompressSync(bytes, { maxOutputLength: length, chunkSize: length + 1 })
  } catch (cause) {
    throw corrupt('cannot be decompressed', cause)
  }
}

const corrupt = (what: string, cause?: unknown): CoatcheckError =>
  new CoatcheckError('ledger_corrupt', `A chunk of a value ${what}.`, {}, { cause })
