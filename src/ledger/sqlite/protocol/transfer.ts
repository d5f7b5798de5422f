/**
 * Puts and chunks as they go to another thread: the members of the contract and no others, since what else hangs on the object
 * would be cloned along, and bytes without those of the buffer they are a part of.
 */
import { isMarkedAsUntransferable } from 'node:worker_threads'
import type { Chunk, Put } from '../../ledger.ts'
import { packPlan, plannedBytes, type SentPlan } from './packed-plan.ts'

export interface HandedOver {
  readonly put: Put
  readonly transfer: readonly ArrayBuffer[]
}

/** How much of its memory a value has to be for all of it to go: what is around it is the rest of its envelope. */
const MOST_OF_IT = 0.5
const ALL_OF_IT = 1

/** A value that is most of its memory takes that along, which is gone here; of any other, a copy goes. */
export function handOver(given: Put): HandedOver {
  requirePlanned(given)
  const value = handed(given.value, MOST_OF_IT)
  const put = membersOf(given, value)
  const { packed } = put.plan as SentPlan
  return { put, transfer: packed === undefined ? [value.buffer] : [value.buffer, packed.buffer] }
}

/** Chunks in the same way, where they are all of their memory: the rest may be other chunks. */
export function handOverChunks(given: readonly Chunk[]): {
  readonly chunks: readonly Chunk[]
  readonly transfer: readonly ArrayBuffer[]
} {
  const transfer: ArrayBuffer[] = []
  const chunks = given.map(({ firstByte, firstLine, firstCrlf, firstChar, state, bytes }) => {
    const value = handed(bytes, ALL_OF_IT)
    transfer.push(value.buffer)
    return { firstByte, firstLine, firstCrlf, firstChar, state, bytes: value }
  })
  return { chunks, transfer }
}

/** The bytes in memory that can go to another thread. */
function handed(bytes: Buffer, leastPart: number): Buffer<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes
  const goes =
    buffer instanceof ArrayBuffer &&
    byteLength > 0 &&
    byteLength >= leastPart * buffer.byteLength &&
    !isMarkedAsUntransferable(buffer)
  return goes
    ? Buffer.from(buffer.transfer(), byteOffset, byteLength)
    : Buffer.from(new Uint8Array(bytes).buffer)
}

/** Throws for a value that was handed over before: its bytes are gone, and its chunks would say otherwise. */
function requirePlanned({ plan, value }: Put): void {
  if (plannedBytes(plan) === value.length) return
  throw new TypeError('The value of a put is not the one that was planned; it may be gone.')
}

function membersOf(put: Put, value: Buffer): Put {
  return {
    toolUseId: put.toolUseId,
    idempotencyKey: put.idempotencyKey,
    toolName: put.toolName,
    outcome: put.outcome,
    kind: put.kind,
    mediaType: put.mediaType,
    value,
    sha256: put.sha256,
    view: put.view,
    plan: packPlan(put.plan),
    preview: put.preview,
    hint: put.hint,
    shown: put.shown,
    failureKey: put.failureKey,
    verbatimLimitChars: put.verbatimLimitChars,
  }
}
