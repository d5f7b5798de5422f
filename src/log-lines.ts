/**
 * Where the log goes: lines are gathered for some milliseconds and written at once, since each write wakes whoever reads them.
 * What cannot be written (a full disk, most likely) is lost, as is what was gathered when the process is killed, and what waits
 * for a slow reader is bounded; the service is not held up by either.
 */
import { writeSync } from 'node:fs'

/** What may wait for a reader; further lines are lost. */
const WAITING_CHARS = 1_048_576
const RETRY_MS = 50
/** How late a line may be, and how much is gathered for one write. */
const GATHER_MS = 20
const GATHER_CHARS = 16_384

export class LogLines {
  readonly #fd: number
  #lines = ''
  #rest: Buffer = Buffer.alloc(0)
  #due: NodeJS.Timeout | undefined

  /** Does not own the descriptor. */
  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#lines.length > WAITING_CHARS) return
    this.#lines += line
    if (this.#due === undefined) this.#flushIn(GATHER_MS)
    else if (this.#lines.length > GATHER_CHARS && this.#rest.length === 0) this.flushSync()
  }

  /** Writes what there is, as far as it can be; for before the process ends. */
  flushSync(): void {
    clearTimeout(this.#due)
    this.#due = undefined
    if (this.#rest.length === 0) this.#next()
    try {
      while (this.#rest.length > 0) {
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest))
        if (this.#rest.length === 0) this.#next()
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') this.#flushIn(RETRY_MS)
      else this.#rest = this.#rest.subarray(this.#rest.length)
    }
  }

  #next(): void {
    this.#rest = Buffer.from(this.#lines)
    this.#lines = ''
  }

  #flushIn(ms: number): void {
    this.#due = setTimeout(() => this.flushSync(), ms).unref()
  }
}
