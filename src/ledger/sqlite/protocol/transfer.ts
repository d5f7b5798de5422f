/**
 * Prepares puts and chunks for another thread. Only the members of the contract are sent, since
 * other members of the object would be cloned too. Bytes are sent without the rest of the buffer
 * that they are a part of.
 */
import { isMarkedAsUntransferable } from 'node:worker_threads'
import type { Chunk, Put } from '../../ledger.ts'
import { packPlan, plannedBytes, type SentPlan } from './packed-plan.ts'

/** A put to send, with the buffers to transfer. */
export interface HandedOver {
  readonly put: Put
  readonly transfer: readonly ArrayBuffer[]
}

/**
 * Least share of its `ArrayBuffer` that a value must fill to be transferred with it. The rest of
 * the buffer is the rest of its envelope.
 */
const MOST_OF_IT = 0.5
/** The same share for a chunk: the rest of its buffer may hold other chunks. */
const ALL_OF_IT = 1

/**
 * Prepares a put. A value that fills at least half of its `ArrayBuffer` is transferred with it and
 * is then detached here. Of any other value a copy is sent. Throws `TypeError` when the value was
 * transferred before.
 */
export function handOver(given: Put): HandedOver {
  requirePlanned(given)
  const value = handed(given.value, MOST_OF_IT)
  const put = membersOf(given, value)
  const { packed } = put.plan as SentPlan
  return { put, transfer: packed === undefined ? [value.buffer] : [value.buffer, packed.buffer] }
}

/**
 * Prepares chunks. A chunk that fills all of its `ArrayBuffer` is transferred; of any other a copy
 * is sent.
 */
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

/**
 * The bytes in a buffer that can be transferred: their own, when they fill at least `leastPart` of
 * it, or a copy.
 */
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

/**
 * Throws `TypeError` when the size of the value is not the planned one. A value that was
 * transferred before has 0 bytes, which its plan contradicts.
 */
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
