/**
 * Progress of a validation thread with its call, in shared memory that the thread writes and the
 * main thread reads. It needs no message, and can be read while the thread is stuck in synchronous
 * code.
 */
import type { Phase } from './deadlines.ts'

/** States of a thread. It is `idle` until it takes a call, and again after its answer. */
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

/** State of a thread and its start. */
export interface Stage {
  readonly state: Phase | 'idle'
  /** Processor time of the thread when the stage began, in microseconds. */
  readonly beganAtUs: number
}

/** Makes the memory of one thread, for its `workerData`. */
export const progressMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer(WORDS * BigInt64Array.BYTES_PER_ELEMENT)

/** Processor time that the calling thread has used since it started, in microseconds. */
export function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage()
  return user + system
}

/** View of the progress in shared memory. */
export class Progress {
  readonly #words: BigInt64Array<SharedArrayBuffer>

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigInt64Array(memory)
  }

  /**
   * Enters a phase. Called in the validation thread. The start is written first, so that no phase
   * is read with the start of the one before.
   */
  begin(phase: Phase): void {
    Atomics.store(this.#words, BEGAN_AT_US, BigInt(threadCpuUs()))
    this.#enter(phase)
  }

  /** Ends the last phase. Called in the validation thread, before it posts an answer. */
  rest(): void {
    this.#enter('idle')
  }

  /**
   * Reads the current stage. Called in the main thread, after it asked for the thread's processor
   * time. The difference to `beganAtUs` then never overestimates the time in the stage.
   */
  read(): Stage {
    const state = STATES[Number(Atomics.load(this.#words, STATE))] ?? 'idle'
    return { state, beganAtUs: Number(Atomics.load(this.#words, BEGAN_AT_US)) }
  }

  #enter(state: Stage['state']): void {
    Atomics.store(this.#words, STATE, BigInt(STATES.indexOf(state)))
  }
}
