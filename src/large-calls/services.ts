/**
 * Answers calls of a thread of large calls for the ledger and the validator, which live in the main
 * thread. Only methods that large calls use are offered.
 */
import type { MessagePort } from 'node:worker_threads'
import { JsonSlice } from '../core/json/slice.ts'
import type { Chunk, ChunkSeek, Ledger, Put, Result, RunPatch, RunRef } from '../ledger/ledger.ts'
import type { Validator } from '../validation/validator.ts'
import { bufferOf, copyOf, type Handed, serve } from './rpc.ts'

/** Chunks that are sent at once, about a MiB. */
const BATCH_CHUNKS = 16

const plain = (answer: unknown): Handed => ({ answer, transfer: [] })

/** Answers the calls that arrive at `port` for the ledger and the validator. */
export function serveServices(port: MessagePort, services: Services): void {
  const { ledger, validator } = services
  const reading = new Reading(ledger)
  serve(port, {
    openRun: async (ref: RunRef, patch: RunPatch, now: number) =>
      plain(await ledger.openRun(ref, withBuffers(patch), now)),
    findRun: async (ref: RunRef, now: number) => plain(await ledger.findRun(ref, now)),
    findStanding: async (ref: RunRef, now: number) => plain(await ledger.findStanding(ref, now)),
    findTool: async (ref: RunRef, name: string) => plain(await ledger.findTool(ref, name)),
    firstNumbers: async (ref: RunRef, limit: number) =>
      plain(await ledger.firstNumbers(ref, limit)),
    findResult: async (...args: Parameters<Ledger['findResult']>) =>
      plain(await ledger.findResult(...args)),
    append: async (ref: RunRef, put: Put, now: number) =>
      plain(await ledger.append(ref, { ...put, value: bufferOf(put.value) }, now)),
    openChunks: async (result: Result, seek: ChunkSeek) => plain(reading.open(result, seek)),
    nextChunks: (id: number) => reading.next(id),
    closeChunks: async (id: number) => plain(await reading.close(id)),
    compile: async (schema: Uint8Array) => plain(await validator.compile(sliceOf(schema))),
    validate: async (schema: Uint8Array, value: Uint8Array) =>
      plain(await validator.validate(sliceOf(schema), sliceOf(value))),
  })
}

interface Services {
  readonly ledger: Ledger
  readonly validator: Validator
}

const sliceOf = (bytes: Uint8Array): JsonSlice => new JsonSlice(bufferOf(bytes))

function withBuffers(patch: RunPatch): RunPatch {
  if (patch.tools === undefined) return patch
  const tools = new Map(
    [...patch.tools].map(([name, schema]) => [name, schema && bufferOf(schema)]),
  )
  return { ...patch, tools }
}

/** Values that a thread is reading, by number. */
class Reading {
  readonly #ledger: Ledger
  readonly #open = new Map<number, AsyncIterator<Chunk>>()
  #lastId = 0

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  open(result: Result, seek: ChunkSeek): number {
    const id = ++this.#lastId
    this.#open.set(id, this.#ledger.chunks(result, seek)[Symbol.asyncIterator]())
    return id
  }

  /**
   * The next chunks; none at the end. They are copies, since other readers may share the originals.
   */
  async next(id: number): Promise<Handed> {
    const chunks: Chunk[] = []
    const transfer: ArrayBuffer[] = []
    while (chunks.length < BATCH_CHUNKS) {
      const next = await this.#open.get(id)?.next()
      if (next === undefined || next.done === true) break
      const bytes = copyOf(next.value.bytes)
      transfer.push(bytes.buffer)
      chunks.push({ ...next.value, bytes: bytes as Buffer })
    }
    return { answer: chunks, transfer }
  }

  async close(id: number): Promise<undefined> {
    const open = this.#open.get(id)
    this.#open.delete(id)
    await open?.return?.()
  }
}
