/**
 * The writer as a thread of this process. Only what passes between two threads: who waits for what is not known here.
 */
import { Worker } from 'node:worker_threads'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'

const ENTRY = new URL('./worker.ts', import.meta.url)

/** What the writer is reached by. */
export interface WriterPort {
  /** What is in `transfer` is the writer's from then on. */
  post(message: ToWriter, transfer: readonly ArrayBuffer[]): void
  /** Once. `ended` may be told several times, with the cause if there is one. */
  listen(on: { message(message: FromWriter): void; ended(cause: unknown): void }): void
  /** Whether the process stays for what the writer is doing. */
  hold(): void
  release(): void
  /** At once, whatever it is doing. */
  terminate(): Promise<void>
}

/** Starts a thread that opens the ledger and writes to it. */
export function startThread(data: WriterData): WriterPort {
  const worker = new Worker(ENTRY, { workerData: data, name: 'ledger-writer' })
  return {
    post: (message, transfer) => worker.postMessage(message, transfer),
    listen(on) {
      worker.on('message', on.message)
      worker.on('messageerror', on.ended)
      worker.on('error', on.ended)
      worker.on('exit', (status) => on.ended(new Error(`It ended with status ${status}.`)))
    },
    hold: () => worker.ref(),
    release: () => worker.unref(),
    async terminate() {
      await worker.terminate()
    },
  }
}
