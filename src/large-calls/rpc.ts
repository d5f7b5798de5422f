/** Calls between two threads over a message port: a name and plain arguments, answered in any order. Buffers arrive as byte arrays. */
import type { MessagePort, Transferable } from 'node:worker_threads'
import {
  fromPlainError,
  type PlainError,
  toPlainError,
} from '../ledger/sqlite/protocol/messages.ts'

interface Asked {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

type Answered =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly error: PlainError }

export interface Handed {
  readonly answer: unknown
  readonly transfer: readonly Transferable[]
}

/** What answers a call, and what of its answer changes hands. */
export type Handlers = Readonly<Record<string, (...args: never[]) => Promise<Handed>>>

/** Answers what is asked through the port. What a handler throws reaches the caller with its code and facts. */
export function serve(port: MessagePort, handlers: Handlers): void {
  const answerTo = async ({ id, name, args }: Asked): Promise<void> => {
    try {
      const handler = handlers[name] as (...args: readonly unknown[]) => Promise<Handed>
      const { answer, transfer } = await handler(...args)
      port.postMessage({ id, answer } satisfies Answered, transfer)
    } catch (error) {
      port.postMessage({ id, error: toPlainError(error) } satisfies Answered)
    }
  }
  port.on('message', (asked: Asked) => void answerTo(asked))
}

/** Asks through a port. */
export class Asker {
  readonly #port: MessagePort
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #lastId = 0

  constructor(port: MessagePort) {
    this.#port = port
    port.on('message', (answered: Answered) => this.#receive(answered))
  }

  ask<Answer>(
    name: string,
    args: readonly unknown[],
    transfer: readonly Transferable[] = [],
  ): Promise<Answer> {
    const id = ++this.#lastId
    const waiting = Promise.withResolvers<unknown>()
    this.#waiting.set(id, waiting)
    this.#port.postMessage({ id, name, args } satisfies Asked, transfer)
    return waiting.promise as Promise<Answer>
  }

  #receive(answered: Answered): void {
    const waiting = this.#waiting.get(answered.id)
    this.#waiting.delete(answered.id)
    if ('error' in answered) waiting?.reject(fromPlainError(answered.error))
    else waiting?.resolve(answered.answer)
  }
}

/** Bytes that came through a port, as a buffer over the same memory. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)

/** Bytes in memory of their own, which can go through a port. */
export const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)
