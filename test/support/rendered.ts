// A value as a ledger keeps it, in memory: its chunks, and reading on from one of them.

import type { ViewPart } from '../../src/core/recall/page.ts'
import {
  type ChunkSizes,
  planValue,
  renderView,
  type ValuePlan,
  type ViewSource,
} from '../../src/core/view/view.ts'
import type { Chunk, ChunkSeek } from '../../src/ledger/ledger.ts'

export interface Kept {
  readonly plan: ValuePlan
  readonly chunks: readonly Chunk[]
  readonly source: ViewSource
}

/** `value` cut into chunks. */
export function keep(value: Buffer, source: ViewSource, sizes?: ChunkSizes): Kept {
  const plan = planValue(value, source, sizes)
  const chunks = plan.chunks.map(({ firstByte, endByte, ...rest }) => ({
    ...rest,
    firstByte,
    bytes: Buffer.from(value.subarray(firstByte, endByte)),
  }))
  return { plan, chunks, source }
}

/** The views of all chunks, each rendered alone. */
export const viewsOf = ({ chunks, source }: Kept): Buffer[] =>
  chunks.map((chunk) => renderView(chunk, source))

/** Which chunk `seek` means. */
export function chunkAt({ chunks }: Kept, seek: ChunkSeek): number {
  return Math.max(
    0,
    chunks.findLastIndex((chunk) => {
      if ('byte' in seek) return chunk.firstByte <= seek.byte
      if ('char' in seek) return chunk.firstChar <= seek.char
      return chunk.firstLine < seek.line - 1
    }),
  )
}

/** The view from where `seek` says, in parts that grow by a chunk at a time. */
export function* partsFrom(kept: Kept, seek: ChunkSeek): Generator<ViewPart> {
  const { chunks } = kept
  const at = chunkAt(kept, seek)
  const first = chunks[at] as Chunk
  const views: Buffer[] = []
  for (const [i, chunk] of chunks.slice(at).entries()) {
    views.push(renderView(chunk, kept.source))
    const last = at + i === chunks.length - 1
    yield {
      bytes: Buffer.concat(views),
      firstLine: first.firstLine,
      firstChar: first.firstChar,
      last,
    }
  }
}
