/**
 * The ledger and the validator for a thread of large calls. Each call is a message to the main
 * thread, which has the real ones (`services.ts`).
 */
import type { MessagePort } from 'node:worker_threads'
import { CoatcheckError } from '../core/errors.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import type { Chunk, ChunkSeek, Ledger, Put, Result, RunRef } from '../ledger/ledger.ts'
import { handOver } from '../ledger/sqlite/protocol/transfer.ts'
import type { Validation, Validator } from '../validation/validator.ts'
import { Asker, bufferOf, copyOf } from './rpc.ts'

/** Makes the ledger and the validator behind `port`. */
export function remoteServices(port: MessagePort): { ledger: Ledger; validator: Validator } {
  const asker = new Asker(port)
  return { ledger: new RemoteLedger(asker), validator: new RemoteValidator(asker) }
}

/** For methods that no large call uses. Throws `internal_error`. */
const notHere = (): never => {
  throw new CoatcheckError('internal_error', 'Large calls do not use this method.')
}

class RemoteLedger implements Ledger {
  readonly #asker: Asker
  readonly ping = notHere
  readonly totals = notHere
  readonly diskSizes = notHere
  readonly listRuns = notHere
  readonly endRun = notHere
  readonly listResults = notHere
  readonly openUpload = notHere
  readonly sweep = notHere
  readonly close = notHere

  constructor(asker: Asker) {
    this.#asker = asker
  }

  openRun(...args: Parameters<Ledger['openRun']>): ReturnType<Ledger['openRun']> {
    return this.#asker.ask('openRun', args)
  }

  findRun(...args: Parameters<Ledger['findRun']>): ReturnType<Ledger['findRun']> {
    return this.#asker.ask('findRun', args)
  }

  findStanding(...args: Parameters<Ledger['findStanding']>): ReturnType<Ledger['findStanding']> {
    return this.#asker.ask('findStanding', args)
  }

  async findTool(...args: Parameters<Ledger['findTool']>): Promise<Buffer | undefined> {
    const schema = await this.#asker.ask<Uint8Array | undefined>('findTool', args)
    return schema && bufferOf(schema)
  }

  firstNumbers(...args: Parameters<Ledger['firstNumbers']>): ReturnType<Ledger['firstNumbers']> {
    return this.#asker.ask('firstNumbers', args)
  }

  findResult(...args: Parameters<Ledger['findResult']>): ReturnType<Ledger['findResult']> {
    return this.#asker.ask('findResult', args)
  }

  append(ref: RunRef, given: Put, now: number): ReturnType<Ledger['append']> {
    const { put, transfer } = handOver(given)
    return this.#asker.ask('append', [ref, put, now], transfer)
  }

  async *chunks(result: Result, seek: ChunkSeek): AsyncGenerator<Chunk> {
    const id = await this.#asker.ask<number>('openChunks', [result, seek])
    try {
      for (;;) {
        const chunks = await this.#asker.ask<readonly Chunk[]>('nextChunks', [id])
        if (chunks.length === 0) return
        for (const chunk of chunks) yield { ...chunk, bytes: bufferOf(chunk.bytes) }
      }
    } finally {
      await this.#asker.ask('closeChunks', [id])
    }
  }

  /** Does nothing: the main thread checks when the put is made. */
  requireRoom(): void {}

  queued(): { readonly puts: number; readonly bytes: number } {
    return { puts: 0, bytes: 0 }
  }

  /** Does nothing: the request itself does it, in the main thread. */
  touch(): void {}
}

class RemoteValidator implements Validator {
  readonly #asker: Asker

  constructor(asker: Asker) {
    this.#asker = asker
  }

  compile(schema: JsonSlice): ReturnType<Validator['compile']> {
    const bytes = copyOf(schema.source)
    return this.#asker.ask('compile', [bytes], [bytes.buffer])
  }

  validate(schema: JsonSlice, value: JsonSlice): Promise<Validation> {
    const args = [copyOf(schema.source), copyOf(value.source)]
    return this.#asker.ask(
      'validate',
      args,
      args.map(({ buffer }) => buffer),
    )
  }

  async close(): Promise<void> {}
}
