/**
 * Writes the service's log. Lines are gathered for some milliseconds and written at once, since
 * each write wakes the reader. The service never waits for the log: lines that cannot be written
 * are lost, for example on a full disk. Lines for a slow reader are bounded. Gathered lines are
 * lost when the process is killed.
 */
import { writeSync } from 'node:fs'

/** Most characters that wait for a reader. Further lines are lost. */
const WAITING_CHARS = 1_048_576
const RETRY_MS = 50
/** Longest delay of a line. */
const GATHER_MS = 20
/** Characters that are gathered for one write. */
const GATHER_CHARS = 16_384

/** Stream of log lines to a file descriptor. */
export class LogLines {
  readonly #fd: number
  #lines = ''
  #rest: Buffer = Buffer.alloc(0)
  #due: NodeJS.Timeout | undefined

  /** Writes to `fd`, which the caller closes. */
  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#lines.length > WAITING_CHARS) return
    this.#lines += line
    if (this.#due === undefined) this.#flushIn(GATHER_MS)
    else if (this.#lines.length > GATHER_CHARS && this.#rest.length === 0) this.flushSync()
  }

  /** Writes all lines, as far as that is possible at once. Called before the process ends. */
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
