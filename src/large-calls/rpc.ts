/**
 * Calls between two threads over a message port. A call is a name and plain arguments; answers may
 * come in any order. Buffers arrive as byte arrays.
 */
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

/** Answer to a call, and the memory in it that is transferred instead of copied. */
export interface Handed {
  readonly answer: unknown
  readonly transfer: readonly Transferable[]
}

/** Handlers of calls by name. */
export type Handlers = Readonly<Record<string, (...args: never[]) => Promise<Handed>>>

/**
 * Answers the calls that arrive at `port`. An error of a handler reaches the caller with its code
 * and facts.
 */
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

/** Caller side of a port. */
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

/** Makes a buffer over the memory of bytes that came through a port. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer<ArrayBuffer> =>
  Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength)

/** Copies bytes to memory of their own, which a port can transfer. */
export const copyOf = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)
