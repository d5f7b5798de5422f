/**
 * Finds the pages that SQLite's log (`-wal`) holds, from the headers of its frames. Only for logs
 * that this process writes, and between transactions. See https://www.sqlite.org/fileformat2.html,
 * section 4.
 */
import { closeSync, openSync, readSync } from 'node:fs'

const LOG_HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/**
 * Offsets of the salts in the log's header and in a frame's header. They change each time that the
 * log starts again; each frame repeats those of its log.
 */
const LOG_SALTS = 16
const FRAME_SALTS = 8
const SALT_BYTES = 8
/**
 * Offsets in a frame's header: its page, and the number of the ledger's pages after a commit, which
 * is 0 in all but the last frame of a commit.
 */
const FRAME_PAGE = 0
const FRAME_COMMIT = 4

/** Pages in the log of one ledger. */
export class LogPages {
  readonly #path: string
  readonly #frameBytes: number
  readonly #header = Buffer.alloc(LOG_HEADER_BYTES)
  readonly #frame = Buffer.alloc(FRAME_HEADER_BYTES)
  readonly #salts = Buffer.alloc(SALT_BYTES)
  readonly #pages = new Set<number>()
  #file: number | undefined
  /** Next frame to read, from 0: the one after the last commit. */
  #next = 0

  /** `path` is that of the ledger, not of the log. */
  constructor(path: string, pageBytes: number) {
    this.#path = `${path}-wal`
    this.#frameBytes = FRAME_HEADER_BYTES + pageBytes
  }

  /**
   * Calls `onPage` for each page that was logged since the last call. A page may be passed more
   * than once. The log can start again with any transaction, so to learn of every page, call this
   * after each one.
   */
  read(onPage: (page: number) => void): void {
    const file = this.#open()
    if (file === undefined || !this.#readHeader(file)) return
    for (let at = this.#next; this.#readFrame(file, at); at++) {
      const page = this.#frame.readUInt32BE(FRAME_PAGE)
      this.#pages.add(page)
      onPage(page)
      // Frames of a rolled-back transaction are overwritten by the next one.
      if (this.#frame.readUInt32BE(FRAME_COMMIT) !== 0) this.#next = at + 1
    }
  }

  /** Whether the log held the page at the last {@link read}. */
  has(page: number): boolean {
    return this.#pages.has(page)
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Descriptor of the log; undefined while there is none. */
  #open(): number | undefined {
    try {
      this.#file ??= openSync(this.#path, 'r')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
    return this.#file
  }

  /** Reads the header, and starts again when the log has. False for an empty log. */
  #readHeader(file: number): boolean {
    const bytes = readSync(file, this.#header, 0, LOG_HEADER_BYTES, 0)
    const isThere = bytes === LOG_HEADER_BYTES
    if (
      isThere &&
      this.#header.compare(this.#salts, 0, SALT_BYTES, LOG_SALTS, LOG_SALTS + SALT_BYTES) === 0
    )
      return true
    this.#pages.clear()
    this.#next = 0
    if (isThere) this.#header.copy(this.#salts, 0, LOG_SALTS)
    else this.#salts.fill(0)
    return isThere
  }

  /** Reads the header of a frame. False when the log ends before it. */
  #readFrame(file: number, frame: number): boolean {
    const at = LOG_HEADER_BYTES + frame * this.#frameBytes
    if (readSync(file, this.#frame, 0, FRAME_HEADER_BYTES, at) < FRAME_HEADER_BYTES) return false
    return (
      this.#frame.compare(this.#salts, 0, SALT_BYTES, FRAME_SALTS, FRAME_SALTS + SALT_BYTES) === 0
    )
  }
}
