/**
 * Room on the ledger's disk. A purge and a start write before they free anything, so both need some
 * room even on a full disk. Two rules keep that room:
 *
 * - A put is refused before it is written unless the disk has room for it twice: in the log, and in
 *   the ledger when the log is copied. So a disk that puts have filled can always take the log into
 *   the ledger.
 * - A file beside the ledger, `<path>.reserve`, occupies room that other programs cannot take. It
 *   is removed for a start or a purge that has no room, and written again when there is plenty.
 *   Puts do not get its room.
 */
import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { CoatcheckError } from '../../../core/errors.ts'

/** Bytes for what a write needs beside its values: rows, indexes, the index of the log. */
const MARGIN_BYTES = 262_144
/** The reserve takes at most one eighth of the disk. */
const LARGEST_PART = 8
/** The reserve is written again when this multiple of its size is free. */
const PLENTY = 3
const PIECE_BYTES = 1_048_576
const OF_THE_OWNER = 0o600

/** Room on the disk of one ledger, with its reserve. */
export class Room {
  readonly #path: string
  readonly #reservePath: string
  /** Bytes that the reserve should have. */
  readonly #wantedBytes: number
  #heldBytes: number

  /** `path` is that of the ledger. `reserveBytes: 0` stands for no reserve. */
  constructor(path: string, reserveBytes: number) {
    this.#path = path
    this.#reservePath = `${path}.reserve`
    this.#heldBytes = sizeOf(this.#reservePath)
    this.#wantedBytes = reserveBytes === 0 ? 0 : Math.min(reserveBytes, this.#largestBytes())
  }

  /** True while the reserve is smaller than it should be. */
  get isTight(): boolean {
    return this.#heldBytes < this.#wantedBytes
  }

  /**
   * Throws `storage_full` when values of `bytes` do not fit. `emptyLog` copies the log into the
   * ledger; it is called when they do not fit with the log as it is.
   */
  require(bytes: number, emptyLog: () => void): void {
    if (this.#lacks(bytes) <= 0) return
    this.refill()
    emptyLog()
    const lacking = this.#lacks(bytes)
    if (lacking <= 0) return
    const detail = `the ledger's disk lacks ${lacking} bytes for ${bytes} bytes of values; its log and a reserve of ${this.#wantedBytes} bytes need room too`
    throw new CoatcheckError('storage_full', detail)
  }

  /** Removes the reserve to free its room. False when there is none. */
  release(): boolean {
    if (this.#heldBytes === 0) return false
    rmSync(this.#reservePath, { force: true })
    this.#heldBytes = 0
    return true
  }

  /**
   * Writes the reserve when it is not whole and the disk has plenty of room. A failure leaves that
   * for later.
   */
  refill(): void {
    const missing = this.#wantedBytes - this.#heldBytes
    if (missing <= 0 || this.#freeBytes() < PLENTY * this.#wantedBytes) return
    try {
      writeReserve(this.#reservePath, this.#wantedBytes)
    } catch {
      rmSync(this.#reservePath, { force: true })
    }
    this.#heldBytes = sizeOf(this.#reservePath)
  }

  /** Number of free bytes that are missing; 0 or less when everything fits. */
  #lacks(bytes: number): number {
    const missing = Math.max(0, this.#wantedBytes - this.#heldBytes)
    const logBytes = sizeOf(`${this.#path}-wal`)
    return 2 * bytes + logBytes + missing + MARGIN_BYTES - this.#freeBytes()
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(dirname(this.#path))
    return bavail * bsize
  }

  #largestBytes(): number {
    const { blocks, bsize } = statfsSync(dirname(this.#path))
    return Math.floor((blocks * bsize) / LARGEST_PART)
  }
}

/** Writes the reserve with random bytes, which no file system compresses or shares. */
function writeReserve(path: string, size: number): void {
  const file = openSync(path, 'w', OF_THE_OWNER)
  try {
    const piece = randomFillSync(Buffer.allocUnsafe(Math.min(PIECE_BYTES, size)))
    for (let at = 0; at < size; )
      at += writeSync(file, piece, 0, Math.min(piece.length, size - at), at)
  } finally {
    closeSync(file)
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
