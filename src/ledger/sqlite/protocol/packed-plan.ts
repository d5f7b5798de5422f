/**
 * The plan of a value as it goes to another thread: many chunks as one array of numbers, since objects are cloned one by one, on
 * both sides. A value whose view is far longer than itself has hundreds of thousands.
 */
import type { ChunkPlan, ValuePlan } from '../../../core/view/view.ts'

/** Fewer are cloned in no time. */
const FEW_CHUNKS = 64
/** Numbers of a chunk, in the order in which they are packed. */
const NUMBERS = [
  'firstByte',
  'endByte',
  'firstLine',
  'firstCrlf',
  'firstChar',
  'state',
] as const satisfies readonly (keyof ChunkPlan)[]

/** A plan on its way. */
export interface SentPlan {
  readonly view: ValuePlan['view']
  readonly chunks: readonly ChunkPlan[]
  /** All chunks, where `chunks` is empty. */
  readonly packed?: Float64Array<ArrayBuffer>
}

/** Takes over what is packed already. */
export function packPlan(plan: SentPlan): SentPlan {
  const { view, chunks } = plan
  if (plan.packed !== undefined || chunks.length <= FEW_CHUNKS) return plan
  const packed = new Float64Array(chunks.length * NUMBERS.length)
  let at = 0
  for (const chunk of chunks) for (const name of NUMBERS) packed[at++] = chunk[name]
  return { view, chunks: [], packed }
}

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

/** Where the last chunk of a plan ends, as a byte of the value. */
export function plannedBytes({ chunks, packed }: SentPlan): number | undefined {
  if (packed === undefined) return chunks.at(-1)?.endByte
  return packed.at(NUMBERS.indexOf('endByte') - NUMBERS.length)
}
