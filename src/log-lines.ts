/**
 * Where the log goes: the lines of a turn of the event loop are written at once, at its end. What cannot be written (a full
 * disk, most likely) is lost, and what waits for a slow reader is bounded; the service is not held up by either.
 */
import { writeSync } from 'node:fs'

/** What may wait for a reader; further lines are lost. */
const WAITING_CHARS = 1_048_576
const RETRY_MS = 50

export class LogLines {
  readonly #fd: number
  #lines = ''
  #rest: Buffer = Buffer.alloc(0)
  #isDue = false

  /** Does not own the descriptor. */
  constructor(fd: number) {
    this.#fd = fd
  }

  write(line: string): void {
    if (this.#lines.length > WAITING_CHARS) return
    this.#lines += line
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => this.flushSync())
  }

  /** Writes what there is, as far as it can be; for before the process ends. */
  flushSync(): void {
    this.#isDue = false
    if (this.#rest.length === 0) this.#next()
    try {
      while (this.#rest.length > 0) {
        this.#rest = this.#rest.subarray(writeSync(this.#fd, this.#rest))
        if (this.#rest.length === 0) this.#next()
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') this.#retry()
      else this.#rest = this.#rest.subarray(this.#rest.length)
    }
  }

  #next(): void {
    this.#rest = Buffer.from(this.#lines)
    this.#lines = ''
  }

  #retry(): void {
    this.#isDue = true
    setTimeout(() => this.flushSync(), RETRY_MS).unref()
  }
}
