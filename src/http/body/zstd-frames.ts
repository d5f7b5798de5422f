/**
 * Finds the frames of a zstd stream (RFC 8878) by their headers, without decoding. Node's decoder
 * stops at the end of a frame and drops the rest of the piece, so each piece must end at the end of
 * a frame or before it. One decoder then reads all frames of a body and checks their contents.
 */

/** Bound of the bytes of any part read here: magic number, frame header, block header. */
const PART_BYTES = 14
const MAGIC = 0xfd2fb528
const SKIPPABLE_MAGIC = 0x184d2a50
/** The low four bits of a skippable frame's magic number are free. */
const SKIPPABLE_MASK = 0xfffffff0
const MAGIC_BYTES = 4
const BLOCK_HEADER_BYTES = 3
const CHECKSUM_BYTES = 4
const RLE_BLOCK = 1
const DICTIONARY_ID_BYTES = [0, 1, 2, 4] as const
const CONTENT_SIZE_BYTES = [0, 2, 4, 8] as const
/** Added to a content size of two bytes. */
const TWO_BYTES_BASE = 256

/** Limits of a stream. */
export interface FrameLimits {
  readonly maxFrames: number
  readonly maxWindowBytes: number
}

/** Error in the frames of a body. `kind` names the limit or rule. */
export class FrameError extends Error {
  readonly kind: 'no_zstd' | 'frames' | 'window' | 'truncated'

  constructor(kind: FrameError['kind']) {
    super(`zstd frames: ${kind}`)
    this.kind = kind
  }
}

type Part = 'magic' | 'skippable_size' | 'descriptor' | 'header' | 'block' | 'checksum'

/** Reader of the frames of one stream. */
export class ZstdFrames {
  readonly #limits: FrameLimits
  readonly #read = Buffer.alloc(PART_BYTES)
  /** Bytes of the part in `#read`. */
  #readBytes = 0
  #part: Part = 'magic'
  #needBytes = MAGIC_BYTES
  /** Bytes to skip before the next part. */
  #passBytes = 0
  #descriptor = 0
  #frames = 0
  #windowBytes = 0

  constructor(limits: FrameLimits) {
    this.#limits = limits
  }

  /** Largest window of the frames so far, in bytes. */
  get windowBytes(): number {
    return this.#windowBytes
  }

  /** Cuts the next piece of the stream after each end of a frame. Throws {@link FrameError}. */
  *split(piece: Buffer): Generator<Buffer> {
    let start = 0
    let at = 0
    while (at < piece.length) {
      at += this.#passBytes > 0 ? this.#pass(piece.length - at) : this.#take(piece, at)
      if (this.#part !== 'magic' || this.#readBytes > 0 || this.#passBytes > 0) continue
      yield piece.subarray(start, at)
      start = at
    }
    if (start < piece.length) yield piece.subarray(start)
  }

  /** Throws {@link FrameError} when the stream ends within a frame or has no frame. */
  end(): void {
    const isWhole = this.#part === 'magic' && this.#readBytes === 0 && this.#passBytes === 0
    if (!isWhole || this.#frames === 0) throw new FrameError('truncated')
  }

  #pass(mostBytes: number): number {
    const bytes = Math.min(this.#passBytes, mostBytes)
    this.#passBytes -= bytes
    return bytes
  }

  #take(piece: Buffer, at: number): number {
    const bytes = Math.min(this.#needBytes - this.#readBytes, piece.length - at)
    piece.copy(this.#read, this.#readBytes, at, at + bytes)
    this.#readBytes += bytes
    if (this.#readBytes === this.#needBytes) {
      this.#readBytes = 0
      this.#endPart()
    }
    return bytes
  }

  /** Reads a complete part and sets the next one. */
  #endPart(): void {
    if (this.#part === 'magic') this.#readMagic()
    else if (this.#part === 'descriptor') this.#readDescriptor()
    else if (this.#part === 'header') this.#readHeader()
    else if (this.#part === 'block') this.#readBlock()
    else {
      if (this.#part === 'skippable_size') this.#passBytes = this.#read.readUInt32LE(0)
      this.#expect('magic', MAGIC_BYTES)
    }
  }

  #expect(part: Part, bytes: number): void {
    this.#part = part
    this.#needBytes = bytes
  }

  #readMagic(): void {
    const magic = this.#read.readUInt32LE(0)
    const isSkippable = (magic & SKIPPABLE_MASK) >>> 0 === SKIPPABLE_MAGIC
    if (magic !== MAGIC && !isSkippable) throw new FrameError('no_zstd')
    this.#frames += 1
    if (this.#frames > this.#limits.maxFrames) throw new FrameError('frames')
    if (isSkippable) this.#expect('skippable_size', MAGIC_BYTES)
    else this.#expect('descriptor', 1)
  }

  #readDescriptor(): void {
    const descriptor = this.#read.readUInt8(0)
    this.#descriptor = descriptor
    this.#expect(
      'header',
      windowBytesIn(descriptor) + idBytesIn(descriptor) + sizeBytesIn(descriptor),
    )
  }

  /** The window of a frame with a single segment is its whole content. */
  #readHeader(): void {
    const windowBytes = isSingleSegment(this.#descriptor)
      ? this.#contentBytes()
      : windowOf(this.#read.readUInt8(0))
    if (windowBytes > this.#limits.maxWindowBytes) throw new FrameError('window')
    this.#windowBytes = Math.max(this.#windowBytes, windowBytes)
    this.#expect('block', BLOCK_HEADER_BYTES)
  }

  #contentBytes(): number {
    const at = idBytesIn(this.#descriptor)
    switch (sizeBytesIn(this.#descriptor)) {
      case 1:
        return this.#read.readUInt8(at)
      case 2:
        return this.#read.readUInt16LE(at) + TWO_BYTES_BASE
      case 4:
        return this.#read.readUInt32LE(at)
      default:
        return Number(this.#read.readBigUInt64LE(at))
    }
  }

  #readBlock(): void {
    const header = this.#read.readUIntLE(0, BLOCK_HEADER_BYTES)
    const isLast = (header & 1) === 1
    const isRle = ((header >>> 1) & 3) === RLE_BLOCK
    this.#passBytes = isRle ? 1 : header >>> 3
    if (!isLast) return
    if (hasChecksum(this.#descriptor)) this.#expect('checksum', CHECKSUM_BYTES)
    else this.#expect('magic', MAGIC_BYTES)
  }
}

const isSingleSegment = (descriptor: number): boolean => (descriptor & 0x20) !== 0
const hasChecksum = (descriptor: number): boolean => (descriptor & 0x04) !== 0
const windowBytesIn = (descriptor: number): number => (isSingleSegment(descriptor) ? 0 : 1)
const idBytesIn = (descriptor: number): number => DICTIONARY_ID_BYTES[descriptor & 3] ?? 0

function sizeBytesIn(descriptor: number): number {
  const flag = descriptor >>> 6
  return flag === 0 && isSingleSegment(descriptor) ? 1 : (CONTENT_SIZE_BYTES[flag] ?? 0)
}

/** Window of a descriptor, in bytes: a power of two from 1 KiB on, and eighths of it. */
function windowOf(descriptor: number): number {
  const base = 2 ** (10 + (descriptor >>> 3))
  return base + (base / 8) * (descriptor & 7)
}
