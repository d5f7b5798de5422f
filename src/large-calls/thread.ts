/**
 * One thread of large calls, with limits on processor time and memory. A call that exceeds a limit
 * is answered with that limit, and its thread is ended.
 */
import { MessageChannel, type ResourceLimits, Worker } from 'node:worker_threads'
import { CoatcheckError } from '../core/errors.ts'
import type { LargeAnswer, LargeCall } from '../http/large-calls.ts'
import type { FromThread, ThreadData, ToThread } from './messages.ts'
import { serveServices } from './services.ts'
import type { LargeCallOptions } from './threads.ts'

const ENTRY = new URL('./worker.ts', import.meta.url)
const MEBIBYTE = 1_048_576
const US_PER_SECOND = 1_000_000
/** Time between two checks of a call's processor time. */
const LOOK_MS = 500
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'

interface Running {
  readonly answered: PromiseWithResolvers<LargeAnswer>
  readonly looking: NodeJS.Timeout
  /** Processor time of the thread before the call, in microseconds. Undefined until it is known. */
  usedBefore: number | undefined
}

/** A thread that answers large calls, one at a time. */
export class LargeCallThread {
  readonly #worker: Worker
  readonly #options: LargeCallOptions
  readonly #ready = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<void>()
  #running: Running | undefined
  #cause: unknown
  #hasEnded = false

  constructor(options: LargeCallOptions) {
    this.#options = options
    const { port1: here, port2: services } = new MessageChannel()
    serveServices(here, options)
    here.unref()
    const { limits, bodyLimits, heapBytes } = options
    const workerData: ThreadData = { services, limits, bodyLimits }
    const resourceLimits: ResourceLimits = {
      maxOldGenerationSizeMb: Math.ceil(heapBytes / MEBIBYTE),
    }
    this.#worker = new Worker(ENTRY, {
      workerData,
      transferList: [services],
      resourceLimits,
      name: 'large-calls',
    })
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => {
      this.#cause = error
    })
    this.#worker.on('exit', (status) => {
      here.close()
      this.#exit(status)
    })
    // Avoids an unhandled rejection. The next call gets the error.
    this.#ready.promise.catch(() => {})
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * Runs one call; no other may be running. Rejects with `over_limit`, or with the error that ended
   * the thread.
   */
  async run({ body, ...call }: LargeCall): Promise<LargeAnswer> {
    this.#worker.ref()
    await this.#ready.promise
    const answered = Promise.withResolvers<LargeAnswer>()
    const looking = setInterval(() => void this.#look(), LOOK_MS)
    this.#running = { answered, looking, usedBefore: undefined }
    void this.#look()
    const bytes = body && ownMemory(body)
    const message: ToThread = { ...call, body: bytes, now: this.#options.now() }
    this.#worker.postMessage(message, bytes === undefined ? [] : [bytes.buffer])
    return answered.promise
  }

  /** Ends the thread. Resolves when it is gone. */
  end(): Promise<void> {
    this.#hasEnded = true
    void this.#worker.terminate()
    return this.#gone.promise
  }

  #receive(message: FromThread): void {
    if ('ready' in message) {
      this.#ready.resolve()
      if (this.#running === undefined) this.#worker.unref()
    } else if ('answer' in message) {
      const { body } = message.answer
      const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      this.#finish()?.resolve({ ...message.answer, body: buffer })
    } else if ('counted' in message) this.#options.count(message.counted)
    else this.#options.log(message.logged)
  }

  /** Ends the thread when its call has exceeded its processor time. */
  async #look(): Promise<void> {
    const running = this.#running
    const { user, system } = await this.#worker.cpuUsage().catch(() => ({ user: 0, system: 0 }))
    if (running === undefined || running !== this.#running) return
    running.usedBefore ??= user + system
    const { cpuSeconds } = this.#options
    if (user + system - running.usedBefore <= cpuSeconds * US_PER_SECOND) return
    void this.end()
    this.#finish()?.reject(tooLong(cpuSeconds))
  }

  #exit(status: number): void {
    this.#hasEnded = true
    const cause = this.#cause ?? new Error(`A thread of large calls ended with status ${status}.`)
    const isFull = cause instanceof Error && 'code' in cause && cause.code === OUT_OF_MEMORY
    const error = isFull ? tooMuch(this.#options.heapBytes) : cause
    this.#finish()?.reject(error)
    this.#ready.reject(error)
    this.#gone.resolve()
  }

  #finish(): PromiseWithResolvers<LargeAnswer> | undefined {
    const running = this.#running
    this.#running = undefined
    clearInterval(running?.looking)
    // An idle thread does not keep the process alive; one that is ending does.
    if (!this.#hasEnded) this.#worker.unref()
    return running?.answered
  }
}

/** The bytes in memory of their own, which is transferred. Copies them unless they own theirs. */
function ownMemory(bytes: Buffer): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes
  const isOwn = buffer instanceof ArrayBuffer && bytes.byteLength === buffer.byteLength
  return isOwn ? (bytes as Buffer<ArrayBuffer>) : new Uint8Array(bytes)
}

const tooLong = (value: number): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The call took more than ${value} seconds of processor time (large_call_cpu_seconds). Send less at a time, or ask for a smaller part.`,
    { limit: 'large_call_cpu_seconds', value },
  )

const tooMuch = (value: number): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The call needs more than ${value} bytes of memory (large_call_heap_bytes). Send less at a time, or ask for a smaller part.`,
    { limit: 'large_call_heap_bytes', value },
  )
