/**
 * A value that arrives in pieces, on its way into the ledger: cut, measured and digested as it comes, with some chunks in
 * memory. To take the next piece is to have kept those before it: that is the backpressure.
 */
import { createHash } from 'node:crypto'
import { previewBinary, previewText } from '../core/preview/preview.ts'
import { type CutChunk, Cutter } from '../core/view/chunker.ts'
import type { ViewSource } from '../core/view/view.ts'
import type { StreamedPut, Upload } from '../ledger/ledger.ts'
import { hintFor, type StreamSource } from './describe.ts'

/** About how many chunks go to the ledger at once, while as many more arrive: half a MiB. */
const BATCH_CHUNKS = 8

/** What a value in pieces turned out to be, as `describeSource` says it of a whole one. */
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

/** Takes all pieces into the upload. Throws what they and the ledger throw. */
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
