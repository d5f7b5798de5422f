/**
 * A value that arrives in pieces, on its way into the ledger: cut, measured and digested as it comes, with some chunks in
 * memory. To take the next piece is to have kept those before it: that is the backpressure.
 */
import { createHash } from 'node:crypto'
import { type CutChunk, Cutter } from '../core/cutter.ts'
import { previewBinary, previewText } from '../core/preview.ts'
import type { ViewSource } from '../core/view.ts'
import type { StreamedPut, Upload } from '../ledger/ledger.ts'
import { hintFor, type StreamSource } from './value.ts'

/** Chunks that go to the ledger at once, while as many more arrive. */
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
  const batches = new Batches(upload)
  for await (const piece of source.pieces) {
    digest.update(piece)
    for (const chunk of cutter.push(piece)) await batches.add(chunk)
  }
  for (const chunk of cutter.end()) await batches.add(chunk)
  await batches.end()
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

/** One batch is being kept while the next one fills. */
class Batches {
  readonly #upload: Upload
  #filling: CutChunk[] = []
  #keeping: Promise<void> = Promise.resolve()

  constructor(upload: Upload) {
    this.#upload = upload
  }

  async add(chunk: CutChunk): Promise<void> {
    this.#filling.push(chunk)
    if (this.#filling.length >= BATCH_CHUNKS) await this.#send()
  }

  async end(): Promise<void> {
    await this.#send()
    await this.#keeping
  }

  async #send(): Promise<void> {
    await this.#keeping
    const batch = this.#filling
    this.#filling = []
    this.#keeping = this.#upload.add(batch)
    // What fails is thrown where it is awaited next, if at all: the pieces may fail first.
    this.#keeping.catch(() => undefined)
  }
}
