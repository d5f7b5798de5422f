/** Reads parts of a text view for windows, from a value in memory or from chunks. */
import { CoatcheckError } from '../core/errors.ts'
import { type ValuePlan, type ViewSource, viewPart } from '../core/view/view.ts'
import type { ViewPart, ViewSeek } from '../core/window/take-lines.ts'
import type { Chunk } from '../ledger/ledger.ts'

/** Reads one part of a view. */
export type ReadPart = (seek: ViewSeek) => Promise<ViewPart>

/** Makes a reader of a value whose chunks are read on demand. */
export const partsRead =
  (chunks: (seek: ViewSeek) => AsyncIterable<Chunk>, view: ViewSource): ReadPart =>
  async (seek) => {
    for await (const chunk of chunks(seek)) return viewPart(chunk, view)
    throw erased()
  }

/**
 * Makes a reader of a value in memory that is planned as chunks. The last part is cached, since a
 * short value is asked for the same part again.
 */
export function partsInMemory(value: Buffer, plan: ValuePlan, view: ViewSource): ReadPart {
  let last: { readonly at: number; readonly part: ViewPart } | undefined
  return async (seek) => {
    const found = plan.chunks.findLastIndex(({ firstChar, firstLine }) =>
      'char' in seek ? firstChar <= seek.char : firstLine < seek.line - 1,
    )
    const at = Math.max(0, found)
    if (last?.at === at) return last.part
    const chunk = plan.chunks[at] as ValuePlan['chunks'][number]
    const bytes = value.subarray(chunk.firstByte, chunk.endByte)
    last = { at, part: viewPart({ ...chunk, bytes }, view) }
    return last.part
  }
}

/**
 * Joins all chunks of a value of `totalBytes`. The bytes of a single chunk are returned without a
 * copy; they are shared and must not be changed. Throws `not_found` when the value was erased
 * meanwhile.
 */
export async function joined(chunks: AsyncIterable<Chunk>, totalBytes: number): Promise<Buffer> {
  let value: Buffer | undefined
  let pos = 0
  for await (const { bytes } of chunks) {
    if (bytes.length === totalBytes) return bytes
    value ??= Buffer.allocUnsafe(totalBytes)
    bytes.copy(value, pos)
    pos += bytes.length
  }
  if (value === undefined || pos !== totalBytes) throw erased()
  return value
}

/** Makes the `not_found` of a value that was erased while it was read. */
export const erased = (): CoatcheckError =>
  new CoatcheckError('not_found', 'The result was erased while it was being read.')
