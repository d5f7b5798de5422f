/**
 * A validation thread and the watch over its processor time. A call that exceeds its deadline is
 * answered with the limit, and its thread is ended at any point. So is a thread whose heap is full.
 * A thread that is late because the processor was given to others goes on. It takes one call at a
 * time; the pool queues calls.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { CoatcheckError } from '../../core/errors.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import { LruCache } from '../../core/lru.ts'
import { CACHE_SCHEMAS, STOPPING_MS, type ThreadLimits } from '../limits.ts'
import type { ValidateOptions } from '../validator.ts'
import { deadlineMs, outOfTime, tooSlow, waitMs } from './deadlines.ts'
import type { FromThread, Outcome, ThreadData, ToThread } from './messages.ts'
import { Progress, progressMemory } from './progress.ts'

const ENTRY = new URL('./worker.ts', import.meta.url)
/** Heap for new objects. A thread never gives this memory back, and there are three threads. */
const YOUNG_MEBIBYTES = 12
const MEBIBYTE = 1_048_576
const US_PER_MS = 1000
/** Shortest time by the clock between two checks of a thread. */
const LOOK_MS = 20
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'

/** A call to a validation thread. */
export interface Call {
  readonly schema: JsonSlice
  /** Value to validate. Absent: the schema is only compiled. */
  readonly value?: JsonSlice
  readonly options?: ValidateOptions
}

interface Running {
  readonly valueBytes: number
  readonly answered: PromiseWithResolvers<Outcome>
  /** Timer of the next check of the thread, or of the wait for its processor time. */
  timer: NodeJS.Timeout | undefined
}

/** One validation thread. */
export class ValidationThread {
  readonly #worker: Worker
  readonly #limits: ThreadLimits
  readonly #progress: Progress
  readonly #onFault: (cause: unknown) => void
  readonly #ready = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<void>()
  readonly #schemas = new LruCache<string, true>({
    maxEntries: CACHE_SCHEMAS,
    maxWeightBytes: CACHE_SCHEMAS,
  })
  #running: Running | undefined
  #cause: unknown
  #hasEnded = false

  /**
   * `onFault` is called when an uncaught error ended the thread. It is not called after
   * {@link end}, or for a full heap.
   */
  constructor(limits: ThreadLimits, onFault: (cause: unknown) => void) {
    this.#limits = limits
    const memory = progressMemory()
    this.#progress = new Progress(memory)
    this.#onFault = onFault
    const resourceLimits: ResourceLimits = {
      maxOldGenerationSizeMb: Math.ceil(limits.heapBytes / MEBIBYTE),
      maxYoungGenerationSizeMb: YOUNG_MEBIBYTES,
    }
    const workerData: ThreadData = { limits, progress: memory }
    this.#worker = new Worker(ENTRY, { workerData, resourceLimits, name: 'validation' })
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => {
      this.#cause = error
    })
    this.#worker.on('exit', (status) => this.#exit(status))
    // Avoids an unhandled rejection. The call that needs the thread gets the error.
    this.#ready.promise.catch(() => {})
  }

  /** Resolves when the thread can take calls. Rejects when it does not start. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /**
   * Runs one call. The thread must be ready and not busy. A call that is not finished within
   * `quickMs` of processor time is `unfinished`. Settles when the thread is free again or has
   * ended. Rejects with `over_limit`, with `overloaded`, or with the error that ended the thread.
   */
  run(call: Call, quickMs?: number): Promise<Outcome> {
    const answered = Promise.withResolvers<Outcome>()
    const valueBytes = sizeOf(call.value)
    const running: Running = { valueBytes, answered, timer: undefined }
    this.#running = running
    this.#worker.ref()
    this.#lookAfter(running, deadlineMs('read', 0, this.#limits) + STOPPING_MS)
    const message = messageOf(call, quickMs)
    this.#worker.postMessage(message, [message.bytes.buffer])
    return answered.promise
  }

  /** Notes that the thread has compiled a schema, by its digest. */
  learn(schema: string): void {
    this.#schemas.add(schema, true, 1)
  }

  /** Whether the thread most likely still has a schema compiled. */
  knows(schema: string): boolean {
    return this.#schemas.get(schema) === true
  }

  /** Ends the thread. Resolves when it is gone. */
  end(): Promise<void> {
    this.#hasEnded = true
    void this.#worker.terminate()
    return this.#gone.promise
  }

  #receive(message: FromThread): void {
    if ('ready' in message) {
      this.#rest()
      this.#ready.resolve()
    } else this.#finish()?.resolve(message)
  }

  #lookAfter(running: Running, ms: number): void {
    running.timer = setTimeout(() => void this.#look(running), Math.max(LOOK_MS, Math.ceil(ms)))
  }

  /**
   * Ends the thread when it has used up the time of its phase. Otherwise checks again when that can
   * next be the case.
   */
  async #look(running: Running): Promise<void> {
    const { valueBytes } = running
    // A thread that does not report its processor time for so long is stuck outside of JavaScript.
    const patienceMs = waitMs(valueBytes, this.#limits)
    running.timer = setTimeout(() => this.#endWith(running, outOfTime(this.#limits)), patienceMs)
    const cpuUs = await this.#cpuUs()
    clearTimeout(running.timer)
    // An answer that arrived in the meantime counts.
    if (cpuUs === undefined || this.#running !== running) return
    const { state, beganAtUs } = this.#progress.read()
    // The thread has not taken the call yet, or its answer is on the way.
    if (state === 'idle') return this.#lookAfter(running, 0)
    // The thread stops itself first if it can.
    const limitMs = deadlineMs(state, valueBytes, this.#limits) + STOPPING_MS
    const leftMs = limitMs - (cpuUs - beganAtUs) / US_PER_MS
    if (leftMs > 0) this.#lookAfter(running, leftMs)
    else this.#endWith(running, tooSlow(state, this.#limits))
  }

  /**
   * Processor time of the thread in microseconds. Undefined when the thread is gone. Resolves when
   * the thread runs next.
   */
  async #cpuUs(): Promise<number | undefined> {
    try {
      const { user, system } = await this.#worker.cpuUsage()
      return user + system
    } catch {
      return undefined
    }
  }

  #endWith(running: Running, error: CoatcheckError): void {
    if (this.#running !== running) return
    void this.end()
    this.#finish()?.reject(error)
  }

  #exit(status: number): void {
    const wasEnded = this.#hasEnded
    this.#hasEnded = true
    const cause = this.#cause ?? new Error(`The validation thread ended with status ${status}.`)
    const isFull = cause instanceof Error && 'code' in cause && cause.code === OUT_OF_MEMORY
    if (!wasEnded && !isFull) this.#onFault(cause)
    const error = isFull ? heapFull(this.#limits.heapBytes) : cause
    this.#finish()?.reject(error)
    this.#ready.reject(error)
    this.#gone.resolve()
  }

  #finish(): PromiseWithResolvers<Outcome> | undefined {
    const running = this.#running
    this.#running = undefined
    clearTimeout(running?.timer)
    this.#rest()
    return running?.answered
  }

  /** Lets the process exit while the thread is idle. A thread that is ending keeps it alive. */
  #rest(): void {
    if (!this.#hasEnded) this.#worker.unref()
  }
}

const heapFull = (value: number): CoatcheckError =>
  new CoatcheckError(
    'over_limit',
    `The call needs more than ${value} bytes to be validated (validation_heap_bytes). Reference a smaller part of the value, or a simpler schema.`,
    { limit: 'validation_heap_bytes', value },
  )

const sizeOf = (slice: JsonSlice | undefined): number =>
  slice === undefined ? 0 : slice.end - slice.start

/** The message for a call. Its bytes are a copy, which is transferred to the thread. */
function messageOf({ schema, value, options = {} }: Call, quickMs: number | undefined): ToThread {
  const schemaBytes = sizeOf(schema)
  const bytes = new Uint8Array(schemaBytes + sizeOf(value))
  bytes.set(schema.source)
  if (value !== undefined) bytes.set(value.source, schemaBytes)
  return { bytes, schemaBytes, hasValue: value !== undefined, options, quickMs }
}
