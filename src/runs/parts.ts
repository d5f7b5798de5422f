/**
 * The part of a view that a window asks for, from wherever the value is: in memory, or in chunks to be read.
 */
import { CoatcheckError } from '../core/errors.ts'
import { type ValuePlan, type ViewSource, viewPart } from '../core/view/view.ts'
import type { ViewPart, ViewSeek } from '../core/window/take-lines.ts'
import type { Chunk } from '../ledger/ledger.ts'

/** Reads one part of a view. */
export type ReadPart = (seek: ViewSeek) => Promise<ViewPart>

/** Of a value whose chunks are read from where a seek says. */
export const partsRead =
  (chunks: (seek: ViewSeek) => AsyncIterable<Chunk>, view: ViewSource): ReadPart =>
  async (seek) => {
    for await (const chunk of chunks(seek)) return viewPart(chunk, view)
    throw erased()
  }

/** Of a value that was cut and is still here. A part that is asked for again, as that of a short value is, is rendered once. */
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

/** The `totalBytes` of all chunks. Those of a single one are not copied: they are shared. */
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

/** What a read says of a value that goes while it is read. */
export const erased = (): CoatcheckError =>
  new CoatcheckError('not_found', 'The result was erased while it was being read.')
