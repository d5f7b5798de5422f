/**
 * Room on the ledger's disk. A purge and a start write before they free anything, so that both need some room on a disk that
 * has none. Two things keep it for them:
 *
 * - A put is refused before it is written unless the disk holds it twice: in the log, and in the ledger when the log is copied.
 *   So a disk that puts have filled can always take the log into the ledger.
 * - A file beside the ledger, `<path>.reserve`, holds room that other programs cannot take. It is given up for a start or a
 *   purge that has no room, and filled again when there is plenty. Puts do not get its room.
 */
import { randomFillSync } from 'node:crypto'
import { closeSync, openSync, rmSync, statfsSync, statSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { CoatcheckError } from '../../../core/errors.ts'

/** For what a write needs beside the values: rows, indexes, the log's index. */
const MARGIN_BYTES = 262_144
/** The reserve takes at most this part of the disk. */
const LARGEST_PART = 8
/** It is filled again when so many times its size is free. */
const PLENTY = 3
const PIECE_BYTES = 1_048_576
const OF_THE_OWNER = 0o600

export class Room {
  readonly #path: string
  readonly #reservePath: string
  /** Size that the reserve is to have. */
  readonly #wantedBytes: number
  #heldBytes: number

  /** `reserveBytes`: 0 for none. */
  constructor(path: string, reserveBytes: number) {
    this.#path = path
    this.#reservePath = `${path}.reserve`
    this.#heldBytes = sizeOf(this.#reservePath)
    this.#wantedBytes = reserveBytes === 0 ? 0 : Math.min(reserveBytes, this.#largestBytes())
  }

  /** True while the room of the reserve was given up. */
  get isTight(): boolean {
    return this.#heldBytes < this.#wantedBytes
  }

  /**
   * Throws `storage_full` when values of so many bytes do not fit. `emptyLog` copies the log into the ledger; it is called where
   * the log's room decides.
   */
  require(bytes: number, emptyLog: () => void): void {
    if (this.#lacks(bytes) <= 0) return
    this.refill()
    emptyLog()
    const lacking = this.#lacks(bytes)
    if (lacking <= 0) return
    const detail = `${bytes} bytes need ${lacking} bytes more on the disk of the ledger, in which its log and a reserve of ${this.#wantedBytes} bytes count`
    throw new CoatcheckError('storage_full', detail)
  }

  /** Gives the reserve's room up. False when there is none. */
  release(): boolean {
    if (this.#heldBytes === 0) return false
    rmSync(this.#reservePath, { force: true })
    this.#heldBytes = 0
    return true
  }

  /** Makes the reserve when it is not whole and the disk has plenty of room. A failure leaves it for a later time. */
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

  /** How many bytes too few are free; 0 or less when all fits. */
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

/** Of bytes that no file system compresses or shares. */
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
