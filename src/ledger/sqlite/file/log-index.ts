/**
 * Reads the index of SQLite's log, the file `-shm`, from which all connections learn how far the
 * log is committed. Its layout is part of SQLite's documented file formats
 * (sqlite.org/walformat.html, "WAL-Index Header"). It uses the machine's byte order.
 */
import { readSync } from 'node:fs'

const HEADER_BYTES = 48
const FRAMES_OFFSET = 16
const PAGES_OFFSET = 20
const SALTS_OFFSET = 32
const SALTS_BYTES = 8

/** Sizes of the log's header, and of the header of each frame, which is followed by its page. */
const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const LOG_SALTS_OFFSET = 16

/** State of a log. */
export interface LogState {
  /** Number of committed frames, each with one page. 0 when the log holds nothing that counts. */
  readonly frames: number
  /** Number of pages of the ledger after the last commit. */
  readonly pages: number
  /**
   * Eight bytes in hex that the log's header and all its frames carry. They change each time that
   * the log starts again.
   */
  readonly salts: string
}

const header = Buffer.alloc(HEADER_BYTES)
const log = Buffer.alloc(LOG_HEADER_BYTES)

/**
 * Reads the state of a log from a descriptor of its index. No other thread may commit meanwhile.
 */
export function readLogState(index: number): LogState {
  header.fill(0)
  readSync(index, header, 0, HEADER_BYTES, 0)
  const littleEndian = isLittleEndian
  return {
    frames: littleEndian ? header.readUInt32LE(FRAMES_OFFSET) : header.readUInt32BE(FRAMES_OFFSET),
    pages: littleEndian ? header.readUInt32LE(PAGES_OFFSET) : header.readUInt32BE(PAGES_OFFSET),
    salts: header.toString('hex', SALTS_OFFSET, SALTS_OFFSET + SALTS_BYTES),
  }
}

/** Salts in the header of a log, read from a descriptor of it. Empty when it has no header. */
export function readSalts(descriptor: number): string {
  const bytes = readSync(descriptor, log, 0, LOG_HEADER_BYTES, 0)
  if (bytes < LOG_HEADER_BYTES) return ''
  return log.toString('hex', LOG_SALTS_OFFSET, LOG_SALTS_OFFSET + SALTS_BYTES)
}

/** Smallest size in bytes of a log with this number of frames. */
export const logBytes = (frames: number, pageBytes: number): number =>
  frames === 0 ? 0 : LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageBytes)

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1
