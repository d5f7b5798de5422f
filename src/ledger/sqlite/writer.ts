/**
 * The order of writes, and their answers. What has arrived by the end of a turn of this thread's event loop is done then, in
 * order; appends next to each other share one transaction. All of a turn is answered in one message, after its commits. No
 * timer: under load, the turns grow by themselves. What a call throws is its answer; nothing else stops for it.
 */
import { ledgerError } from './errors.ts'
import type { FromWriter, Reply, ToWriter, WriteAnswers, WriteCall } from './messages.ts'
import { type Append, type Commit, toPlainError } from './messages.ts'
import type { Store } from './store.ts'

const MS_PER_SECOND = 1000

interface AppendEntry {
  readonly id: number
  readonly append: Append
}

export class Writer {
  readonly #store: Store
  readonly #post: (message: FromWriter) => void
  readonly #onClosed: () => void
  #isClosed = false
  #waiting: ToWriter[] = []
  #replies: Reply[] = []
  #commits: Commit[] = []

  /** Answers by `post`. `onClosed`: after the answer to `close`. */
  constructor(store: Store, post: (message: FromWriter) => void, onClosed: () => void) {
    this.#store = store
    this.#post = post
    this.#onClosed = onClosed
  }

  receive(message: ToWriter): void {
    this.#store.touch(message.touches)
    if (this.#waiting.length === 0) setImmediate(() => this.#drain())
    this.#waiting.push(message)
  }

  #drain(): void {
    const messages = this.#waiting
    this.#waiting = []
    let group: AppendEntry[] = []
    for (const { id, call } of messages) {
      if (call.name === 'append') group.push({ id, append: withBuffer(call) })
      else {
        this.#keep(group)
        group = []
        this.#answer(id, () => this.#do(call))
      }
    }
    this.#keep(group)
    this.#reply()
  }

  #reply(): void {
    const [replies, commits] = [this.#replies, this.#commits]
    this.#replies = []
    this.#commits = []
    this.#post({ replies, commits, touchesWritten: this.#store.touchesWritten })
    if (this.#isClosed) this.#onClosed()
  }

  /** One transaction: all of it is kept, or none. */
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

  #do(call: Exclude<WriteCall, { name: 'append' }>): WriteAnswers[keyof WriteAnswers] {
    switch (call.name) {
      case 'openRun':
        return this.#store.openRun(call.ref, call.patch, call.now)
      case 'endRun':
        return this.#store.endRun(call.ref, call.how, call.now)
      case 'sweep':
        return this.#store.sweep(call.now)
      case 'ping':
        this.#store.ping()
        return undefined
      case 'flush':
        this.#store.flush()
        return undefined
      case 'close':
        this.#isClosed = true
        this.#store.close()
        return undefined
      default:
        return call satisfies never
    }
  }
}

/** A buffer arrives as a plain array of bytes. */
function withBuffer({ ref, put, now }: Append): Append {
  const { buffer, byteOffset, byteLength } = put.value
  return { ref, now, put: { ...put, value: Buffer.from(buffer, byteOffset, byteLength) } }
}
