/**
 * Puts and chunks as they go to another thread: the members of the contract and no others, since what else hangs on the object
 * would be cloned along, and bytes without those of the buffer they are a part of.
 */
import { isMarkedAsUntransferable } from 'node:worker_threads'
import type { Chunk, Put } from '../ledger.ts'

export interface HandedOver {
  readonly put: Put
  readonly transfer: readonly ArrayBuffer[]
}

/** A value that is the whole of its memory goes as it is, and is gone here; of any other, a copy goes. */
export function handOver(given: Put): HandedOver {
  requirePlanned(given)
  const bytes = movableOf(given.value)
  return { put: membersOf(given, Buffer.from(bytes)), transfer: [bytes] }
}

/** Chunks in the same way. */
export function handOverChunks(given: readonly Chunk[]): {
  readonly chunks: readonly Chunk[]
  readonly transfer: readonly ArrayBuffer[]
} {
  const transfer: ArrayBuffer[] = []
  const chunks = given.map(({ firstByte, firstLine, firstCrlf, firstChar, state, bytes }) => {
    const moved = movableOf(bytes)
    transfer.push(moved)
    return { firstByte, firstLine, firstCrlf, firstChar, state, bytes: Buffer.from(moved) }
  })
  return { chunks, transfer }
}

const movableOf = (bytes: Buffer): ArrayBuffer => movable(bytes) ?? new Uint8Array(bytes).buffer

function movable({ buffer, byteLength }: Buffer): ArrayBuffer | undefined {
  if (buffer instanceof SharedArrayBuffer || byteLength === 0) return undefined
  if (buffer.byteLength !== byteLength || isMarkedAsUntransferable(buffer)) return undefined
  return buffer.transfer()
}

/** Throws for a value that was handed over before: its bytes are gone, and its chunks would say otherwise. */
function requirePlanned({ plan, value }: Put): void {
  if (plan.chunks.at(-1)?.endByte === value.length) return
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
    plan: put.plan,
    preview: put.preview,
    hint: put.hint,
    shown: put.shown,
    failureKey: put.failureKey,
    verbatimLimitChars: put.verbatimLimitChars,
  }
}
