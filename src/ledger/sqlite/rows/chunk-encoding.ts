/**
 * Encodes a chunk's bytes for its row: as they are, or as one zstd frame when that saves enough.
 * The row also holds their length, so that reading takes no more memory than writing did, and their
 * checksum, which every read verifies.
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { CoatcheckError } from '../../../core/errors.ts'

/** Values of the column `encoding`. */
export const PLAIN = 0
export const ZSTD = 1

/** Chunks with fewer bytes are not compressed. */
const ZSTD_BYTES = 4_096
/** A frame is used when it saves at least one eighth of the bytes. */
const SAVED_EIGHTHS = 1
const EIGHTHS = 8

const ZSTD_OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Columns of a chunk that hold its bytes. */
export interface EncodedChunk {
  readonly encoding: number
  /** Number of bytes before encoding. */
  readonly length: number
  /** CRC-32 of the bytes before encoding. */
  readonly checksum: number
  readonly bytes: Buffer
}

/** Encodes `bytes`. With `incompressible` they are never compressed. */
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

/** Decodes a chunk. Throws `ledger_corrupt` when length or checksum do not fit. */
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
    // Decompresses into one buffer. Its one spare byte shows whether the frame holds more than it
    // should.
    return zstdDecompressSync(bytes, { maxOutputLength: length, chunkSize: length + 1 })
  } catch (cause) {
    throw corrupt('cannot be decompressed', cause)
  }
}

/** Error `ledger_corrupt` about a chunk. `what` completes the sentence "A chunk of a value …". */
export const corrupt = (what: string, cause?: unknown): CoatcheckError =>
  new CoatcheckError('ledger_corrupt', `A chunk of a value ${what}.`, {}, { cause })
