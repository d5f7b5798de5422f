/**
 * Decides the order of writes and answers them.
 *
 * All calls that have arrived by the end of an event-loop turn of this thread are carried out then,
 * in order. Adjacent puts share one transaction. All calls of a turn are answered in one message,
 * after the commits. There is no timer: under load, turns grow by themselves. An error of a call is
 * its answer and stops nothing else.
 *
 * Work that may take long follows after the rest of a turn, one piece of each kind: chunks of an
 * upload, and erasing.
 */
import { freeWithRest } from '../../../core/memory.ts'
import type { Chunk, RunCounts } from '../../ledger.ts'
import { ledgerError } from '../file/sqlite-errors.ts'
import type { FromWriter, Reply, ToWriter, WriteAnswers, WriteCall } from '../protocol/messages.ts'
import { type Append, type Commit, type Finish, toPlainError } from '../protocol/messages.ts'
import { unpackPlan } from '../protocol/packed-plan.ts'
import { Erasing } from './erase-queue.ts'
import type { Store } from './store.ts'

const MS_PER_SECOND = 1000

interface AppendEntry {
  readonly id: number
  readonly append: Append | Finish
}

type StageCall = Extract<WriteCall, { name: 'stage' }>
type OtherCall = Exclude<WriteCall, { name: 'append' | 'finish' | 'stage' }>

interface Stage {
  readonly id: number
  readonly call: StageCall
}

/** The write loop of the writer thread. */
export class Writer {
  readonly #store: Store
  readonly #post: (message: FromWriter) => void
  readonly #onClosed: () => void
  readonly #erasing: Erasing
  #isClosed = false
  #isTurnDue = false
  #waiting: ToWriter[] = []
  readonly #stages: Stage[] = []
  #replies: Reply[] = []
  #commits: Commit[] = []

  /** `post` sends answers. `onClosed` is called after the answer to `close`. */
  constructor(store: Store, post: (message: FromWriter) => void, onClosed: () => void) {
    this.#store = store
    this.#post = post
    this.#onClosed = onClosed
    this.#erasing = new Erasing({
      step: () => store.erase(),
      postpone: () => store.postponeScrub(),
      wake: () => this.#wake(),
    })
    this.#wake()
  }

  /** Takes a message, which is handled in the next turn. */
  receive(message: ToWriter): void {
    this.#store.touch(message.touches)
    const { id, call } = message
    if ('upload' in call) this.#store.heard(call.upload)
    if (call.name === 'stage') this.#stages.push({ id, call })
    else this.#waiting.push(message)
    this.#wake()
  }

  #wake(): void {
    if (this.#isTurnDue || this.#isClosed) return
    this.#isTurnDue = true
    setImmediate(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnDue = false
    const busy = this.#waiting.length + this.#stages.length > 0
    this.#drain()
    if (this.#isClosed) return
    const stage = this.#stages.shift()
    if (stage !== undefined) this.#answer(stage.id, () => this.#stage(stage.call))
    if (this.#erasing.isDue) this.#erasing.step({ busy })
    this.#reply()
    this.#store.checkpoint()
    if (this.#stages.length > 0 || this.#erasing.isDue) this.#wake()
  }

  #drain(): void {
    const messages = this.#waiting
    this.#waiting = []
    let group: AppendEntry[] = []
    for (const { id, call } of messages) {
      if (call.name === 'append') group.push({ id, append: withBuffer(call) })
      else if (call.name === 'finish') group.push({ id, append: call })
      else {
        this.#keep(group)
        group = []
        this.#do(id, call as OtherCall)
      }
    }
    this.#keep(group)
    this.#reply()
  }

  #reply(): void {
    const [replies, commits] = [this.#replies, this.#commits]
    if (replies.length === 0) return
    this.#replies = []
    this.#commits = []
    this.#post({ replies, commits, touchesWritten: this.#store.touchesWritten })
    if (this.#isClosed) this.#onClosed()
  }

  /** Stores a group of puts in one transaction: all or none. */
  #keep(group: readonly AppendEntry[]): void {
    if (group.length === 0) return
    const startedAt = performance.now()
    try {
      const outcomes = this.#store.append(group.map(({ append }) => append))
      const puts = outcomes.filter((outcome) => 'result' in outcome).length
      this.#commits.push({ puts, seconds: (performance.now() - startedAt) / MS_PER_SECOND })
      for (const [index, outcome] of outcomes.entries()) {
        const { id } = group[index] as AppendEntry
        if ('refusal' in outcome) this.#fail(id, outcome.refusal)
        else this.#replies.push({ id, answer: outcome })
      }
    } catch (error) {
      for (const { id } of group) this.#fail(id, error)
    }
    for (const { append } of group) if ('value' in append.put) freeWithRest(append.put.value)
    // Chunks of a retry or of a failed upload are to be erased.
    if (group.some(({ append }) => 'upload' in append)) this.#erasing.start()
  }

  #answer(id: number, work: () => WriteAnswers[keyof WriteAnswers]): void {
    try {
      this.#replies.push({ id, answer: work() })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #fail(id: number, error: unknown): void {
    this.#replies.push({ id, error: toPlainError(ledgerError(error)) })
  }

  #do(id: number, call: OtherCall): void {
    if (call.name === 'abort') this.#whenErased(id, () => this.#store.dropUpload(call.upload))
    else if (call.name === 'endRun' && call.how.purge) {
      this.#whenErased(id, () => this.#store.purgeRun(call.ref, call.now))
    } else this.#answer(id, () => this.#doNow(call))
  }

  /** Runs `work`, and answers when everything that it left to be erased is gone. */
  #whenErased(id: number, work: () => RunCounts | undefined): void {
    try {
      const answer = work()
      this.#erasing.wait({
        done: (erased) => this.#replies.push({ id, answer: answer && { ...answer, erased } }),
        failed: (error) => this.#fail(id, error),
      })
    } catch (error) {
      this.#fail(id, error)
    }
  }

  #stage({ upload, chunks, now }: StageCall): undefined {
    try {
      this.#store.stage(upload, chunks.map(withBytes), now)
      for (const { bytes } of chunks) freeWithRest(bytes)
    } catch (error) {
      this.#erasing.start()
      throw error
    }
  }

  #doNow(call: Exclude<OtherCall, { name: 'abort' }>): WriteAnswers[keyof WriteAnswers] {
    switch (call.name) {
      case 'openRun':
        return this.#store.openRun(call.ref, call.patch, call.now)
      case 'openUpload':
        // Another upload may have made room, whose chunks are to be erased.
        this.#erasing.start()
        return this.#store.openUpload(call, call.now)
      case 'endRun':
        return { ...this.#store.endRun(call.ref, call.now), erased: null }
      case 'sweep':
        return this.#sweep(call.now)
      case 'ping':
        this.#store.ping()
        // Erasing may have been stopped by a full disk.
        this.#erasing.start()
        return undefined
      case 'flush':
        this.#store.flush()
        return undefined
      case 'close':
        this.#erasing.finish()
        this.#isClosed = true
        this.#store.close()
        return undefined
      default:
        return call satisfies never
    }
  }

  /** Sweeps and erases one piece, so that sweeps alone bring erasing to its end. */
  #sweep(now: number): boolean {
    const more = this.#store.sweep(now)
    this.#erasing.start()
    const progress = this.#erasing.step({ busy: false })
    return more || (progress !== 'idle' && progress !== 'blocked')
  }
}

/** Buffer over bytes that have arrived as a plain array. */
const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array<ArrayBufferLike>): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength)

const withBuffer = ({ ref, put, now }: Append): Append => ({
  ref,
  now,
  put: { ...put, value: bufferOf(put.value), plan: unpackPlan(put.plan) },
})

const withBytes = (chunk: Chunk): Chunk => ({ ...chunk, bytes: bufferOf(chunk.bytes) })
