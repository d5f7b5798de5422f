/**
 * Runs the writer as a thread of this process and passes messages. Which caller waits for which
 * answer is not known here.
 *
 * The thread ends by itself, after `close` or a refusal. To terminate it inside a call of SQLite
 * can end the whole process.
 */
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import type { FromWriter, ToWriter, WriterData } from './messages.ts'

/**
 * A batch of this size is posted at once instead of at the end of the event-loop turn, so that the
 * writer can commit it meanwhile.
 */
const BATCH_MESSAGES = 8
const BATCH_BYTES = 262_144
const ENTRY = new URL('../writer-thread/worker.ts', import.meta.url)

/** Connection to the writer. */
export interface WriterPort {
  /**
   * Sends a message. From this call on the buffers in `transfer` belong to the writer and must not
   * be used elsewhere, although they may be posted a little later.
   */
  post(message: ToWriter, transfer: readonly ArrayBuffer[]): void
  /** Sets the listener; called once. Nothing is reported after `ended`. */
  listen(on: { message(message: FromWriter): void; ended(cause: unknown): void }): void
  /** Keeps the process running until {@link release}. */
  hold(): void
  /** Lets the process end while the writer is idle. */
  release(): void
  /** Resolves when the thread has ended. Keeps the process running until then. */
  gone(): Promise<void>
}

/**
 * Messages to the thread, posted in batches: all of one event-loop turn go together, which costs
 * little more than one message.
 */
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

/** Starts the thread that opens the ledger and writes to it. */
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
      // The last event: earlier answers have arrived before it.
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

/**
 * Loads SQLite's native module in this thread. A module that only a thread has loaded is unloaded
 * when that thread ends, while V8 may still call into it.
 */
function keepAddon(): void {
  new Database(':memory:').close()
}
