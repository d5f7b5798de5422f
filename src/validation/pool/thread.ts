/**
 * One thread that validates, and the time it may take. A call that is late is answered with the limit it hit, and its thread
 * is ended, wherever it is; so is one whose heap is full. Nothing waits here: who has several calls has several threads.
 */
import { type ResourceLimits, Worker } from 'node:worker_threads'
import { CoatcheckError } from '../../core/errors.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import { STOPPING_MS, type ThreadLimits } from '../limits.ts'
import { compilesLong, deadlineMs, judgesLong, type Phase } from './deadlines.ts'
import type { Answer, FromThread, ToThread } from './messages.ts'

const ENTRY = new URL('./worker.ts', import.meta.url)
/** Of new objects; a thread keeps what it once had, and there are three. */
const YOUNG_MEBIBYTES = 12
const MEBIBYTE = 1_048_576
const OUT_OF_MEMORY = 'ERR_WORKER_OUT_OF_MEMORY'

export interface Call {
  readonly schema: JsonSlice
  /** Absent: the schema is only compiled. */
  readonly value?: JsonSlice
}

interface Running {
  readonly call: Call
  readonly answered: PromiseWithResolvers<Answer>
  phase: Phase
  timer: NodeJS.Timeout | undefined
}

export class ValidationThread {
  readonly #worker: Worker
  readonly #limits: ThreadLimits
  readonly #ready = Promise.withResolvers<void>()
  readonly #gone = Promise.withResolvers<void>()
  #running: Running | undefined
  #cause: unknown
  #hasEnded = false

  constructor(limits: ThreadLimits) {
    this.#limits = limits
    const resourceLimits: ResourceLimits = {
      maxOldGenerationSizeMb: Math.ceil(limits.heapBytes / MEBIBYTE),
      maxYoungGenerationSizeMb: YOUNG_MEBIBYTES,
    }
    this.#worker = new Worker(ENTRY, { workerData: { limits }, resourceLimits, name: 'validation' })
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => {
      this.#cause = error
    })
    this.#worker.on('exit', (status) => this.#exit(status))
    // Who asks is told by its call.
    this.#ready.promise.catch(() => {})
  }

  /** Resolves when calls are answered at once; rejects when the thread does not start. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** One call at a time, and only when ready. Rejects with `over_limit`, or with what ended the thread. */
  run(call: Call): Promise<Answer> {
    const answered = Promise.withResolvers<Answer>()
    const running: Running = { call, answered, phase: 'read', timer: undefined }
    this.#running = running
    this.#worker.ref()
    this.#await(running)
    const message = messageOf(call)
    this.#worker.postMessage(message, [message.bytes.buffer])
    return answered.promise
  }

  /** Resolves when it is gone. */
  end(): Promise<void> {
    this.#hasEnded = true
    void this.#worker.terminate()
    return this.#gone.promise
  }

  #receive(message: FromThread): void {
    if ('ready' in message) {
      this.#rest()
      this.#ready.resolve()
      return
    }
    const running = this.#running
    if (running === undefined) return
    if ('phase' in message) {
      running.phase = message.phase
      this.#await(running)
    } else this.#finish()?.resolve(message)
  }

  #msFor({ phase, call }: Running): number {
    const ms = deadlineMs(phase, sizeOf(call.value), this.#limits)
    // The thread itself comes first, where it can.
    return phase === 'compile' ? ms : ms + STOPPING_MS
  }

  #await(running: Running): void {
    clearTimeout(running.timer)
    // An answer may have come while this thread was busy itself; it is read before the immediate.
    running.timer = setTimeout(() => {
      running.timer = undefined
      setImmediate(() => {
        if (this.#running === running && running.timer === undefined) this.#overdue(running)
      })
    }, this.#msFor(running))
  }

  #overdue({ phase }: Running): void {
    void this.end()
    const { compileMs, validateMs } = this.#limits
    this.#finish()?.reject(phase === 'compile' ? compilesLong(compileMs) : judgesLong(validateMs))
  }

  #exit(status: number): void {
    this.#hasEnded = true
    const cause = this.#cause ?? new Error(`The thread that validates ended with ${status}.`)
    const isFull = cause instanceof Error && 'code' in cause && cause.code === OUT_OF_MEMORY
    const error = isFull ? heapFull(this.#limits.heapBytes) : cause
    this.#finish()?.reject(error)
    this.#ready.reject(error)
    this.#gone.resolve()
  }

  #finish(): PromiseWithResolvers<Answer> | undefined {
    const running = this.#running
    this.#running = undefined
    clearTimeout(running?.timer)
    this.#rest()
    return running?.answered
  }

  /** An idle thread keeps nobody from ending; one that is ending is waited for. */
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

/** The bytes of a call in a buffer of their own, which changes hands. */
function messageOf({ schema, value }: Call): ToThread {
  const schemaBytes = sizeOf(schema)
  const bytes = new Uint8Array(schemaBytes + sizeOf(value))
  bytes.set(schema.source)
  if (value !== undefined) bytes.set(value.source, schemaBytes)
  return { bytes, schemaBytes, hasValue: value !== undefined }
}
