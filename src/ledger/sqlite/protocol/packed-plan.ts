/**
 * Packs the plan of a value for another thread: many chunks become one array of numbers. Objects
 * are cloned one by one, on both sides, and a value whose view is far longer than the value has
 * hundreds of thousands of chunks.
 */
import type { ChunkPlan, ValuePlan } from '../../../core/view/view.ts'

/** Plans of at most this many chunks are not packed. */
const FEW_CHUNKS = 64
/** Numbers of a chunk, in the order of the packed array. */
const NUMBERS = [
  'firstByte',
  'endByte',
  'firstLine',
  'firstCrlf',
  'firstChar',
  'state',
] as const satisfies readonly (keyof ChunkPlan)[]

/** A plan that is being sent. */
export interface SentPlan {
  readonly view: ValuePlan['view']
  readonly chunks: readonly ChunkPlan[]
  /** All chunks. Present only when `chunks` is empty. */
  readonly packed?: Float64Array<ArrayBuffer>
}

/** Packs a plan of many chunks. A plan that is packed already is returned as it is. */
export function packPlan(plan: SentPlan): SentPlan {
  const { view, chunks } = plan
  if (plan.packed !== undefined || chunks.length <= FEW_CHUNKS) return plan
  const packed = new Float64Array(chunks.length * NUMBERS.length)
  let at = 0
  for (const chunk of chunks) for (const name of NUMBERS) packed[at++] = chunk[name]
  return { view, chunks: [], packed }
}

/** Restores the plan that {@link packPlan} packed. */
export function unpackPlan({ view, chunks, packed }: SentPlan): ValuePlan {
  if (packed === undefined) return { view, chunks }
  const unpacked: ChunkPlan[] = []
  for (let at = 0; at < packed.length; at += NUMBERS.length) {
    const [firstByte, endByte, firstLine, firstCrlf, firstChar, state] = packed.subarray(
      at,
      at + NUMBERS.length,
    ) as unknown as [number, number, number, number, number, number]
    unpacked.push({ firstByte, endByte, firstLine, firstCrlf, firstChar, state })
  }
  return { view, chunks: unpacked }
}

/**
 * End of the last chunk as an offset in the value, which is the size of the planned value.
 * Undefined without chunks.
 */
export function plannedBytes({ chunks, packed }: SentPlan): number | undefined {
  if (packed === undefined) return chunks.at(-1)?.endByte
  return packed.at(NUMBERS.indexOf('endByte') - NUMBERS.length)
}
