/**
 * Sends calls to the writer in order and resolves their promises. The queue of puts is bounded; a
 * put beyond the bound is refused at once. When the writer ends, all pending and later calls are
 * rejected, so that none waits for ever.
 */
import { CoatcheckError } from '../../../core/errors.ts'
import type { Queued } from '../../ledger.ts'
import type { Tell } from '../../notice.ts'
import type { SentTouches, Touch } from '../protocol/last-requests.ts'
import {
  type Commit,
  type FromWriter,
  fromPlainError,
  type Replies,
  type Reply,
  type WriteAnswers,
  type WriteCall,
} from '../protocol/messages.ts'
import type { WriterPort } from '../protocol/thread.ts'

/**
 * Bounds of the queue of puts: their number, and bytes of their values. A put larger than `bytes`
 * is accepted when no other put waits.
 */
export interface QueueLimits {
  readonly puts: number
  readonly bytes: number
}

interface Waiting {
  readonly resolve: (answer: WriteAnswers[keyof WriteAnswers]) => void
  readonly reject: (reason: unknown) => void
  readonly touches: readonly Touch[]
  /** Bytes of the value of a put; undefined for other calls. */
  readonly putBytes: number | undefined
}

interface Parts {
  readonly touches: SentTouches
  readonly limits: QueueLimits
  readonly onCommit: (commit: Commit) => void
  readonly onNotice: Tell
  /** Checks an error before it is thrown; see `ReadFaults.judge`. */
  readonly judge: (error: unknown) => Promise<unknown>
  /**
   * Called when the writer has ended by a fault. Not called after `close`, nor when it could not
   * open the file.
   */
  readonly onFault: (cause: unknown) => void
}

/** Client of the writer thread. */
export class Writes {
  readonly #port: WriterPort
  readonly #parts: Parts
  readonly #waiting = new Map<number, Waiting>()
  readonly #opened = Promise.withResolvers<void>()
  #lastId = 0
  #puts = 0
  #putBytes = 0
  #isOpen = false
  /** Error for all calls once the writer has ended. */
  #ended: CoatcheckError | undefined

  constructor(port: WriterPort, parts: Parts) {
    this.#port = port
    this.#parts = parts
    port.listen({
      message: (message) => this.#receive(message),
      ended: (cause) => this.#end(cause),
    })
  }

  /** Resolves when the writer has opened the file. Rejects with the error that prevented it. */
  opened(): Promise<void> {
    return this.#opened.promise
  }

  /** Throws `overloaded` when the queue has no room for a put of `bytes`. */
  requireRoom(bytes: number): void {
    const { puts, bytes: most } = this.#parts.limits
    if (this.#puts >= puts) throw overloaded(`${puts} puts wait`, 'queued_puts', puts)
    const isFull = this.#puts > 0 && this.#putBytes + bytes > most
    if (isFull) throw overloaded(`Puts of ${most} bytes wait`, 'queued_bytes', most)
  }

  /** Returns the size of the queue of puts. */
  queued(): Queued {
    return { puts: this.#puts, bytes: this.#putBytes }
  }

  /**
   * Sends a call and returns the writer's answer. `transfer` holds the buffers that the writer
   * takes over.
   */
  ask<Call extends WriteCall>(
    call: Call,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<WriteAnswers[Call['name']]> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== undefined) throw this.#ended
      const id = ++this.#lastId
      const touches = this.#parts.touches.take()
      const putBytes = call.name === 'append' ? call.put.value.byteLength : undefined
      this.#port.post({ id, call, touches }, transfer)
      this.#wait(id, { resolve: resolve as Waiting['resolve'], reject, touches, putBytes })
    })
  }

  /**
   * Closes the writer after all pending calls. Rejects when the noted requests could not be
   * written. The thread has ended in either case.
   */
  async close(): Promise<void> {
    this.#isOpen = false
    try {
      if (this.#ended === undefined) await this.ask({ name: 'close' })
    } finally {
      await this.#port.gone()
    }
  }

  #wait(id: number, waiting: Waiting): void {
    if (this.#waiting.size === 0) this.#port.hold()
    this.#waiting.set(id, waiting)
    if (waiting.putBytes === undefined) return
    this.#puts++
    this.#putBytes += waiting.putBytes
  }

  #take(id: number): Waiting {
    const waiting = this.#waiting.get(id) as Waiting
    this.#waiting.delete(id)
    if (waiting.putBytes !== undefined) {
      this.#puts--
      this.#putBytes -= waiting.putBytes
    }
    return waiting
  }

  #receive(message: FromWriter): void {
    if ('notice' in message) {
      this.#parts.onNotice(message.notice)
      return
    }
    if ('replies' in message) this.#settle(message)
    else if ('refused' in message) this.#opened.reject(fromPlainError(message.refused))
    else this.#setOpen()
    if (this.#waiting.size === 0) this.#port.release()
  }

  #setOpen(): void {
    this.#isOpen = true
    this.#opened.resolve()
  }

  #settle({ replies, commits, touchesWritten: written }: Replies): void {
    for (const commit of commits) this.#parts.onCommit(commit)
    for (const reply of replies) this.#settleOne(reply, written)
  }

  #settleOne(reply: Reply, written: boolean): void {
    const { resolve, reject, touches } = this.#take(reply.id)
    this.#parts.touches.received(touches, { written })
    if ('error' in reply) void this.#parts.judge(fromPlainError(reply.error)).then(reject)
    else resolve(reply.answer)
  }

  #end(cause: unknown): void {
    const detail = 'The thread that writes the ledger has ended; restart the service.'
    this.#ended ??= new CoatcheckError('ledger_unavailable', detail, {}, { cause })
    this.#opened.reject(this.#ended)
    for (const id of [...this.#waiting.keys()]) this.#take(id).reject(this.#ended)
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#parts.onFault(cause)
  }
}

function overloaded(what: string, limit: string, value: number): CoatcheckError {
  const detail = `${what} to be committed, which is the limit. Send it again in a moment.`
  return new CoatcheckError('overloaded', detail, { limit, value })
}
