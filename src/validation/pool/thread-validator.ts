/**
 * Validation beside this thread, under deadlines. A thread takes one call at a time, so that the call that ends it fails
 * alone; as soon as one is busy another is kept ready, which takes its place without delay. Threads start with the first
 * call. The calls that wait are bounded in number, bytes and time: past a bound a call is `overloaded`.
 */
import { CoatcheckError } from '../../core/errors.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import {
  COMPILE_MS,
  ERRORS_SHOWN,
  QUEUE_BYTES,
  QUEUE_CALLS,
  SCHEMA_BYTES,
  THREADS_BUSY,
  type ThreadLimits,
  VALIDATE_MS,
  VALIDATION_HEAP_BYTES,
  VALIDATION_WAIT_SECONDS,
} from '../limits.ts'
import type { SchemaWarning, ValidateOptions, Validation, Validator } from '../validator.ts'
import { outOfTime, waitMs } from './deadlines.ts'
import { type Answer, refused } from './messages.ts'
import { type Call, ValidationThread } from './thread.ts'

interface Waiting {
  readonly call: Call
  readonly bytes: number
  readonly answered: PromiseWithResolvers<Answer>
}

const DEFAULTS: ThreadLimits = {
  schemaBytes: SCHEMA_BYTES,
  errorsShown: ERRORS_SHOWN,
  heapBytes: VALIDATION_HEAP_BYTES,
  compileMs: COMPILE_MS,
  validateMs: VALIDATE_MS,
  waitMs: VALIDATION_WAIT_SECONDS * 1000,
}

export class ThreadValidator implements Validator {
  readonly #limits: ThreadLimits
  readonly #onFault: (cause: unknown) => void
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  /** The one that was used last, and so knows the most schemas, is the last. */
  readonly #idle: ValidationThread[] = []
  readonly #busy = new Set<ValidationThread>()
  #starting: ValidationThread | undefined
  /** Ended, but not gone. */
  readonly #ending = new Set<Promise<void>>()
  #isClosed = false

  /** `onFault`: an error that nothing caught has ended one of the threads; others go on, and its call has failed with it. */
  constructor(
    limits: Partial<ThreadLimits> = {},
    onFault: (cause: unknown) => void = () => undefined,
  ) {
    this.#limits = { ...DEFAULTS, ...limits }
    this.#onFault = onFault
  }

  async compile(schema: JsonSlice): Promise<readonly SchemaWarning[]> {
    const answer = await this.#ask({ schema })
    if ('warnings' in answer) return answer.warnings
    throw thrownBy(answer)
  }

  async validate(
    schema: JsonSlice,
    value: JsonSlice,
    options: ValidateOptions = {},
  ): Promise<Validation> {
    const answer = await this.#ask({ schema, value, options })
    if ('validation' in answer) return answer.validation
    throw thrownBy(answer)
  }

  /** Calls that still wait or run are `overloaded`. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { answered } of this.#waiting.splice(0)) answered.reject(closing())
    const threads = [...this.#idle, ...this.#busy]
    if (this.#starting !== undefined) threads.push(this.#starting)
    await Promise.all([...threads.map((thread) => thread.end()), ...this.#ending])
  }

  #ask(call: Call): Promise<Answer> {
    const bytes = call.schema.source.length + (call.value?.source.length ?? 0)
    if (this.#isClosed) throw closing()
    this.#requireRoom(bytes)
    const answered = Promise.withResolvers<Answer>()
    const waiting: Waiting = { call, bytes, answered }
    this.#waiting.push(waiting)
    this.#waitingBytes += bytes
    const giveUp = setTimeout(() => this.#giveUp(waiting), waitMs(bytes, this.#limits))
    this.#dispatch()
    return answered.promise.finally(() => clearTimeout(giveUp))
  }

  /** A call that a thread is at already stays there, so that the thread is not lost; its answer is dropped. */
  #giveUp(waiting: Waiting): void {
    const position = this.#waiting.indexOf(waiting)
    if (position >= 0) {
      this.#waiting.splice(position, 1)
      this.#waitingBytes -= waiting.bytes
    }
    waiting.answered.reject(outOfTime(this.#limits))
  }

  #requireRoom(bytes: number): void {
    const { length } = this.#waiting
    if (length >= QUEUE_CALLS) {
      throw overloaded(`${QUEUE_CALLS} calls wait`, 'validation_calls', QUEUE_CALLS)
    }
    if (length > 0 && this.#waitingBytes + bytes > QUEUE_BYTES) {
      throw overloaded(`Calls of ${QUEUE_BYTES} bytes wait`, 'validation_bytes', QUEUE_BYTES)
    }
  }

  #next(): Waiting | undefined {
    const next = this.#waiting.shift()
    this.#waitingBytes -= next?.bytes ?? 0
    return next
  }

  #dispatch(): void {
    while (this.#waiting.length > 0 && this.#busy.size < THREADS_BUSY) {
      const thread = this.#idle.pop()
      if (thread === undefined) break
      if (!thread.hasEnded) void this.#serve(thread, this.#next() as Waiting)
    }
    const isNeeded = this.#busy.size > 0 || this.#waiting.length > 0
    if (isNeeded && this.#idle.length === 0 && this.#starting === undefined) void this.#start()
  }

  async #serve(thread: ValidationThread, { call, answered }: Waiting): Promise<void> {
    this.#busy.add(thread)
    try {
      answered.resolve(await thread.run(call))
    } catch (error) {
      answered.reject(this.#isClosed ? closing() : error)
    }
    this.#busy.delete(thread)
    if (this.#isClosed) return
    if (thread.hasEnded) this.#letGo(thread)
    else this.#idle.push(thread)
    this.#dispatch()
  }

  async #start(): Promise<void> {
    const thread = new ValidationThread(this.#limits, this.#onFault)
    this.#starting = thread
    try {
      await thread.ready
      this.#idle.unshift(thread)
    } catch (error) {
      // Whoever waits longest is told, so that threads that cannot start are not started for ever.
      this.#next()?.answered.reject(this.#isClosed ? closing() : error)
    }
    this.#starting = undefined
    if (!this.#isClosed) this.#dispatch()
  }

  #letGo(thread: ValidationThread): void {
    const gone = thread.end()
    this.#ending.add(gone)
    void gone.then(() => this.#ending.delete(gone))
  }
}

function overloaded(what: string, limit: string, value: number): CoatcheckError {
  const detail = `${what} to be validated, which is the limit. Send it again in a moment.`
  return new CoatcheckError('overloaded', detail, { limit, value })
}

const closing = (): CoatcheckError =>
  new CoatcheckError('overloaded', 'The service is shutting down; send it again in a moment.')

function thrownBy(answer: Answer): Error {
  if ('refusal' in answer) return refused(answer.refusal)
  return new Error('fault' in answer ? answer.fault : 'The answer is to another call.')
}
