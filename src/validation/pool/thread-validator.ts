/**
 * Validation in threads with deadlines. A thread takes one call at a time, so a call that ends its
 * thread fails alone. As soon as one thread is busy, another is kept ready to replace it without
 * delay. Threads start with the first call. Waiting calls are bounded in number, bytes and time;
 * beyond a bound a call is `overloaded`.
 *
 * Every call first gets a short time. A call that takes longer is stopped and continues as a long
 * call. Long calls, and later calls of connections that made some, never occupy all threads. So
 * other calls find a thread that is soon free.
 */
import { createHash } from 'node:crypto'
import { CoatcheckError } from '../../core/errors.ts'
import type { JsonSlice } from '../../core/json/slice.ts'
import {
  COMPILE_MS,
  ERRORS_SHOWN,
  QUICK_MS,
  SCHEMA_BYTES,
  THREADS_BUSY,
  type ThreadLimits,
  VALIDATE_MS,
  VALIDATION_HEAP_BYTES,
  VALIDATION_WAIT_SECONDS,
} from '../limits.ts'
import type {
  Caller,
  CompileOptions,
  SchemaWarning,
  ValidateOptions,
  Validation,
  Validator,
} from '../validator.ts'
import { Costs } from './costs.ts'
import { outOfTime, waitMs } from './deadlines.ts'
import { type Answer, refused, type Used } from './messages.ts'
import { type Call, ValidationThread } from './thread.ts'
import { isLong, type Waiting, WaitingCalls } from './waiting-calls.ts'

interface PoolCall extends Waiting {
  readonly call: Call
  /** Digest of the schema, in base64. */
  readonly schema: string
  readonly answered: PromiseWithResolvers<Answer>
  /** True when the call was settled. A thread may still work on it. */
  isOver: boolean
}

const connectionKey = (tenant: string, connection: string): string => `${tenant} ${connection}`

const NOBODY: Caller = { tenant: '', connection: '' }

const DEFAULTS: ThreadLimits = {
  schemaBytes: SCHEMA_BYTES,
  errorsShown: ERRORS_SHOWN,
  heapBytes: VALIDATION_HEAP_BYTES,
  compileMs: COMPILE_MS,
  validateMs: VALIDATE_MS,
  waitMs: VALIDATION_WAIT_SECONDS * 1000,
}

/** Validator that runs in threads and enforces deadlines. */
export class ThreadValidator implements Validator {
  readonly #limits: ThreadLimits
  readonly #onFault: (cause: unknown) => void
  readonly #waiting = new WaitingCalls<PoolCall>()
  readonly #costs = new Costs()
  /** Idle threads. The most recently used one, which knows the most schemas, is the last. */
  readonly #idle: ValidationThread[] = []
  readonly #busy = new Map<ValidationThread, PoolCall>()
  #starting: ValidationThread | undefined
  /** Threads that were ended and still exist. */
  readonly #ending = new Set<Promise<void>>()
  #isClosed = false

  /**
   * `onFault` is called when an uncaught error ended a thread. That thread's call has failed; other
   * threads go on.
   */
  constructor(
    limits: Partial<ThreadLimits> = {},
    onFault: (cause: unknown) => void = () => undefined,
  ) {
    this.#limits = { ...DEFAULTS, ...limits }
    this.#onFault = onFault
  }

  async compile(
    schema: JsonSlice,
    { caller }: CompileOptions = {},
  ): Promise<readonly SchemaWarning[]> {
    const answer = await this.#ask({ schema }, caller)
    if ('warnings' in answer) return answer.warnings
    throw thrownBy(answer)
  }

  async validate(
    schema: JsonSlice,
    value: JsonSlice,
    { caller, ...options }: ValidateOptions = {},
  ): Promise<Validation> {
    const answer = await this.#ask({ schema, value, options }, caller)
    if ('validation' in answer) return answer.validation
    throw thrownBy(answer)
  }

  /** Ends all threads. Calls that still wait or run are rejected with `overloaded`. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { answered } of this.#waiting.clear()) answered.reject(closing())
    const threads = [...this.#idle, ...this.#busy.keys()]
    if (this.#starting !== undefined) threads.push(this.#starting)
    await Promise.all([...threads.map((thread) => thread.end()), ...this.#ending])
  }

  #ask(call: Call, caller: Caller = NOBODY): Promise<Answer> {
    if (this.#isClosed) throw closing()
    const waiting = this.#poolCall(call, caller)
    const { answered, bytes } = waiting
    const giveUp = setTimeout(
      () => this.#answer(waiting, () => answered.reject(outOfTime(this.#limits))),
      waitMs(bytes, this.#limits),
    )
    this.#waiting.add(waiting)
    this.#dispatch()
    return answered.promise.finally(() => clearTimeout(giveUp))
  }

  #poolCall(call: Call, { tenant, connection }: Caller): PoolCall {
    const answered = Promise.withResolvers<Answer>()
    const valueBytes = call.value?.source.length ?? 0
    const sinceMs = performance.now()
    const schema = createHash('sha256').update(call.schema.source).digest('base64')
    const known = [connectionKey(tenant, connection), schema]
    const pool: PoolCall = {
      call,
      schema,
      tenant,
      connection,
      bytes: call.schema.source.length + valueBytes,
      sinceMs,
      expectedMs: this.#costs.expect(known, valueBytes, sinceMs),
      answered,
      isOver: false,
      refuse: (error) => this.#answer(pool, () => answered.reject(error)),
    }
    return pool
  }

  /**
   * Settles a call unless it is settled already. A thread that works on it continues, so that the
   * thread is not lost; its outcome is dropped.
   */
  #answer(call: PoolCall, settle: () => void): void {
    if (call.isOver) return
    call.isOver = true
    this.#waiting.remove(call)
    settle()
  }

  /** Gives waiting calls to idle threads. Long calls leave at least one thread to quick ones. */
  #dispatch(): void {
    for (const thread of this.#idle.splice(0)) if (!thread.hasEnded) this.#idle.push(thread)
    const nowMs = performance.now()
    const used = (tenant: string): number => this.#costs.used(tenant, nowMs)
    while (this.#busy.size < THREADS_BUSY && this.#idle.length > 0) {
      const long = [...this.#busy.values()].filter(isLong).length
      const call = this.#waiting.take(nowMs, { allowLong: long < THREADS_BUSY - 1, used })
      if (call === undefined) break
      void this.#serve(this.#idleFor(call), call)
    }
    const isNeeded = this.#busy.size > 0 || this.#waiting.size > 0
    if (isNeeded && this.#idle.length === 0 && this.#starting === undefined) void this.#start()
  }

  /** Takes an idle thread that has compiled the schema, or else the most recently used one. */
  #idleFor({ schema }: PoolCall): ValidationThread {
    const knowing = this.#idle.findLastIndex((thread) => thread.knows(schema))
    const [thread] = this.#idle.splice(knowing, 1)
    return thread as ValidationThread
  }

  async #serve(thread: ValidationThread, call: PoolCall): Promise<void> {
    this.#busy.set(thread, call)
    const isQuick = !isLong(call)
    try {
      const outcome = await thread.run(call.call, isQuick ? QUICK_MS : undefined)
      this.#note(call, outcome.used)
      if ('answer' in outcome) {
        thread.learn(call.schema)
        this.#answer(call, () => call.answered.resolve(outcome.answer))
      } else call.expectedMs = this.#limits.validateMs + QUICK_MS
    } catch (error) {
      this.#note(call, { callMs: this.#limits.validateMs, judgingMs: this.#limits.validateMs })
      this.#answer(call, () => call.answered.reject(this.#isClosed ? closing() : error))
    }
    this.#busy.delete(thread)
    if (this.#isClosed) return
    if (!call.isOver) this.#waiting.add(call)
    if (thread.hasEnded) this.#letGo(thread)
    else this.#idle.push(thread)
    this.#dispatch()
  }

  #note({ tenant, connection, schema }: PoolCall, { callMs, judgingMs }: Used): void {
    const nowMs = performance.now()
    this.#costs.note(connectionKey(tenant, connection), callMs, nowMs)
    this.#costs.note(schema, judgingMs, nowMs)
    this.#costs.use(tenant, callMs, nowMs)
  }

  async #start(): Promise<void> {
    const thread = new ValidationThread(this.#limits, this.#onFault)
    this.#starting = thread
    try {
      await thread.ready
      this.#idle.unshift(thread)
    } catch (error) {
      // The oldest call gets the error, so that threads that cannot start are not started for ever.
      this.#waiting.oldest?.refuse(this.#isClosed ? closing() : error)
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

const closing = (): CoatcheckError =>
  new CoatcheckError('overloaded', 'The service is shutting down; send it again in a moment.')

function thrownBy(answer: Answer): Error {
  if ('refusal' in answer) return refused(answer.refusal)
  return new Error('fault' in answer ? answer.fault : 'The answer is to another call.')
}
