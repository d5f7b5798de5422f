/**
 * How a chunk's bytes are kept: as they are, or as one zstd frame where that saves enough. Beside them is their length, so
 * that reading takes no more memory than was written, and their checksum, which every reading verifies.
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CoatcheckError } from '../../../core/errors.ts'

/** As in the column `encoding`. */
export const PLAIN = 0
export const ZSTD = 1

/** Smaller chunks are not worth the call. */
const ZSTD_BYTES = 4_096
/** A frame is kept when it leaves out at least this share of the bytes. */
const SAVED_EIGHTHS = 1
const EIGHTHS = 8

const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

export interface EncodedChunk {
  readonly encoding: number
  /** Of the bytes before encoding. */
  readonly length: number
  /** CRC-32 of the same. */
  readonly checksum: number
  readonly bytes: Buffer
}

/** The smaller form of `bytes`; as they are for those that are `incompressible` by their kind. */
export function encodeChunk(
  bytes: Buffer,
  { incompressible }: { readonly incompressible: boolean },
): EncodedChunk {
  const { length } = bytes
  const plain = { encoding: PLAIN, length, checksum: crc32(bytes), bytes }
  if (incompressible || length < ZSTD_BYTES) return plain
  const frame = zstdCompressSync(bytes, ZSTD_OPTIONS)
  const pays = frame.length * EIGHTHS <= length * (EIGHTHS - SAVED_EIGHTHS)
  return pays ? { ...plain, encoding: ZSTD, bytes: frame } : plain
}

/** The bytes again. Throws `ledger_corrupt` when they are not what they were. */
export function decodeChunk(chunk: EncodedChunk): Buffer {
  const bytes = decoded(chunk)
  if (bytes.length !== chunk.length) {
    throw corrupt(`has ${bytes.length} bytes instead of ${chunk.length}`)
  }
  if (crc32(bytes) !== chunk.checksum) throw corrupt('has other bytes than were kept')
  return bytes
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

export const corrupt = (what: string, cause?: unknown): CoatcheckError =>
  new CoatcheckError('ledger_corrupt', `A chunk of a value ${what}.`, {}, { cause })
