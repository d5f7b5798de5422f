/**
 * The writer as a thread of this process. Only what passes between two threads: who waits for what is not known here. The
 * thread ends by itself, after `close` or a refusal: to terminate it inside a call of SQLite can take the process along.
 */
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'

/** With so many, or so many bytes handed over, they go though the turn goes on: they are committed while it does. */
const BATCH_MESSAGES = 8
const BATCH_BYTES = 262_144
const ENTRY = new URL('../writer-thread/worker.ts', import.meta.url)

/** What the writer is reached by. */
export interface WriterPort {
  /** What is in `transfer` is the writer's from then on, though it may leave a little later; nothing else may have it. */
  post(message: ToWriter, transfer: readonly ArrayBuffer[]): void
  /** Once. After `ended` nothing more is told. */
  listen(on: { message(message: FromWriter): void; ended(cause: unknown): void }): void
  /** Whether the process stays for what the writer is doing. */
  hold(): void
  release(): void
  /** Resolves when the thread is gone; the process stays until then. */
  gone(): Promise<void>
}

/** Messages as they go to the thread: together where they are of one turn of the event loop, which costs little more than one. */
class Mail {
  readonly #send: (messages: readonly ToWriter[], transfer: readonly ArrayBuffer[]) => void
  #messages: ToWriter[] = []
  #transfer: ArrayBuffer[] = []
  #bytes = 0

  constructor(send: (messages: readonly ToWriter[], transfer: readonly ArrayBuffer[]) => void) {
    this.#send = send
  }

  add(message: ToWriter, transfer: readonly ArrayBuffer[]): void {
    if (this.#messages.length === 0) setImmediate(() => this.#sendAll())
    this.#messages.push(message)
    this.#transfer.push(...transfer)
    for (const { byteLength } of transfer) this.#bytes += byteLength
    if (this.#messages.length >= BATCH_MESSAGES || this.#bytes >= BATCH_BYTES) this.#sendAll()
  }

  #sendAll(): void {
    if (this.#messages.length === 0) return
    const [messages, transfer] = [this.#messages, this.#transfer]
    this.#messages = []
    this.#transfer = []
    this.#bytes = 0
    this.#send(messages, transfer)
  }
}

/** Starts a thread that opens the ledger and writes to it. */
export function startThread(data: WriterData): WriterPort {
  keepAddon()
  const worker = new Worker(ENTRY, { workerData: data, name: 'ledger-writer' })
  const mail = new Mail((messages, transfer) => worker.postMessage(messages, transfer))
  const gone = Promise.withResolvers<void>()
  return {
    post: (message, transfer) => mail.add(message, transfer),
    listen(on) {
      let cause: unknown
      worker.on('message', on.message)
      worker.on('messageerror', (error) => {
        cause ??= error
        void worker.terminate()
      })
      worker.on('error', (error) => {
        cause ??= error
      })
      // the last of all: answers that were sent before have arrived
      worker.on('exit', (status) => {
        on.ended(cause ?? new Error(`It ended with status ${status}.`))
        gone.resolve()
      })
    },
    hold: () => worker.ref(),
    release: () => worker.unref(),
    gone() {
      worker.ref()
      return gone.promise
    },
  }
}

/** What only a thread has loaded is unloaded with it, while V8 may still call into it; loaded here first, it stays. */
function keepAddon(): void {
  new Database(':memory:').close()
}
