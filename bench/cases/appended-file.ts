/**
 * The floor under every durable store: bytes appended to a file, and on the disk.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs'
import { median } from '../stats.ts'

export class AppendedFile {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  /** The median time of one `write` and `fdatasync`, in milliseconds. */
  p50Ms(calls: number, bytes: Buffer): number {
    const times = Array.from({ length: calls }, () => {
      const startedAt = performance.now()
      writeSync(this.#file, bytes)
      fdatasyncSync(this.#file)
      return performance.now() - startedAt
    })
    return median(times)
  }

  close(): void {
    closeSync(this.#file)
  }
}
