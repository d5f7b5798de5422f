/**
 * How far a validation thread is with its call: shared memory that the thread writes and the main thread reads. It costs
 * no message, and can be read while the thread is stuck in synchronous code.
 */
import type { Phase } from './deadlines.ts'

/** `idle` until a call has been taken, and after its answer. */
const STATES = [
  'idle',
  'read',
  'compile',
  'validate',
  'validate_patterns',
  'validate_references',
] as const satisfies readonly (Phase | 'idle')[]

const STATE = 0
const BEGAN_AT_US = 1
const WORDS = 2

export interface Stage {
  readonly state: Phase | 'idle'
  /** Processor time of the thread when the stage began, in microseconds. */
  readonly beganAtUs: number
}

/** The memory of one thread, for its `workerData`. */
export const progressMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)

/** Processor time that the calling thread has used since it started, in microseconds. */
export function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

export class Progress {
  readonly #words: BigInt64Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  /** Called in the thread itself. The start is written first, so that no stage is read with the start of the one before. */
  begin(phase: Phase): void {
    Atomics.store(this.#words, BEGAN_AT_US, BigInt(threadCpuUs()))
    this.#enter(phase)
  }

  /** Called in the thread itself, before it posts an answer. */
  rest(): void {
    this.#enter('idle')
  }

  /**
   * Called in the main thread, after the thread's processor time has been asked for: the time in the stage, which is the
   * difference, is then never overestimated.
   */
  read(): Stage {
    const state = STATES[Number(Atomics.load(this.#words, STATE))] ?? 'idle'
    return { state, beganAtUs: Number(Atomics.load(this.#words, BEGAN_AT_US)) }
  }

  #enter(state: Stage['state']): void {
    Atomics.store(this.#words, STATE, BigInt(STATES.indexOf(state)))
  }
}
