/**
 * Writes a value that arrives in pieces to the ledger. It is cut into chunks, measured and digested
 * as it arrives, with only some chunks in memory. The next piece is taken after earlier chunks were
 * written, which slows a fast client down.
 */
import { createHash } from 'node:crypto'
import { previewBinary, previewText } from '../core/preview/preview.ts'
import { type CutChunk, Cutter } from '../core/view/chunker.ts'
import type { ViewSource } from '../core/view/view.ts'
import type { StreamedPut, Upload } from '../ledger/ledger.ts'
import { hintFor, type StreamSource } from './describe.ts'

/** Chunks that are written at once, about half a MiB, while as many more arrive. */
const BATCH_CHUNKS = 8

/** Description of a value in pieces, like that of `describeSource` for a whole value. */
export type DescribedStream = Pick<
  StreamedPut,
  | 'outcome'
  | 'kind'
  | 'mediaType'
  | 'totalBytes'
  | 'totals'
  | 'sha256'
  | 'view'
  | 'preview'
  | 'hint'
>

/** Writes all pieces into the upload. Throws what the pieces and the ledger throw. */
export async function ingest(upload: Upload, source: StreamSource): Promise<DescribedStream> {
  const { mediaType } = source
  const cutter = new Cutter(source.kind)
  const digest = createHash('sha256')
  let batch: CutChunk[] = []
  for await (const piece of source.pieces) {
    digest.update(piece)
    batch.push(...cutter.push(piece))
    if (batch.length < BATCH_CHUNKS) continue
    await upload.add(batch)
    batch = []
  }
  await upload.add([...batch, ...cutter.end()])
  const { kind, totalBytes, totals, excerpt } = cutter
  const sha256 = digest.digest('hex')
  const isText = kind === 'text'
  const view: ViewSource = isText
    ? { form: 'text', start: 0, end: totalBytes }
    : { form: 'none', start: 0, end: 0 }
  const preview = isText
    ? previewText(excerpt)
    : previewBinary({ mediaType, bytes: totalBytes, sha256 })
  const hint = hintFor({ outcome: 'output', kind })
  return { outcome: 'output', kind, mediaType, totalBytes, totals, sha256, view, preview, hint }
}
