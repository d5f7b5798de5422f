// Ledgers in folders of their own, and puts for them.
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ContentPlan, planShown } from '../../src/core/content.ts'
import { planValue, type ViewSource } from '../../src/core/view/view.ts'
import type {
  Chunk,
  Ledger,
  LedgerPolicy,
  Put,
  Result,
  RunRef,
  StreamedPut,
} from '../../src/ledger/ledger.ts'

export const NOW = 1_800_000_000_000
export const SECOND_MS = 1000

export const POLICY: LedgerPolicy = {
  defaultTtlSeconds: 600,
  defaultVerbatimLimitChars: 30_000,
  retentionSeconds: 3_600,
  maxRuns: 20_000,
  maxResultsPerRun: 10_000,
  maxBytesPerRun: 1_000_000_000,
  maxEvictionsPerMinute: 100_000,
  maxToolsPerRun: 1_000,
  maxToolBytesPerRun: 10_000_000,
}

export const RUN: RunRef = { tenant: '', run: 'run-1' }

/** A folder that `remove` takes away again. */
export function temporaryFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'coatcheck-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A put with the content that its `shown` counts, and the digest that its result will have. */
export type TestPut = Put & { readonly content: ContentPlan; readonly digest: string }

/** A text output shown verbatim, but for what `changes` says. */
export function putText(text: string, changes: Partial<TestPut> = {}): TestPut {
  const value = Buffer.from(text)
  const view: ViewSource = { form: 'text', start: 0, end: value.length }
  const put = { kind: 'text', mediaType: 'text/plain', value, view } as const
  return withDefaults({ ...put, content: { rendering: 'verbatim', text }, ...changes })
}

export function putJson(json: string, changes: Partial<TestPut> = {}): TestPut {
  const value = Buffer.from(json)
  const view: ViewSource = { form: 'json', start: 0, end: value.length }
  const put = { kind: 'json', mediaType: 'application/json', value, view } as const
  return withDefaults({ ...put, content: { rendering: 'preview' }, ...changes })
}

export function putBinary(value: Buffer, changes: Partial<TestPut> = {}): TestPut {
  const view: ViewSource = { form: 'none', start: 0, end: 0 }
  const put = { kind: 'binary', mediaType: 'application/octet-stream', value, view } as const
  return withDefaults({ ...put, content: { rendering: 'preview' }, hint: 'raw_read', ...changes })
}

/** A failure or a suspension whose view is `text`. */
export function putSentinel(
  outcome: 'failure' | 'suspension',
  text: string,
  changes: Partial<TestPut> = {},
): TestPut {
  const value = Buffer.from(JSON.stringify({ [outcome]: text }))
  const start = value.indexOf(':') + 2
  const view: ViewSource = { form: 'string', start, end: value.length - 2 }
  const content: ContentPlan =
    outcome === 'failure'
      ? { rendering: 'compacted', tool: 'search', message: text }
      : { rendering: 'none' }
  const put = { kind: 'json', mediaType: 'application/json', value, view, content } as const
  const failureKey = outcome === 'failure' ? `search ${text}` : null
  return withDefaults({ ...put, outcome, failureKey, ...changes })
}

type Given = Pick<TestPut, 'kind' | 'mediaType' | 'value' | 'view' | 'content'> & Partial<TestPut>

function withDefaults(given: Given): TestPut {
  const preview = given.preview ?? ' (a preview)'
  const hint = given.hint ?? 'reference'
  const digest = createHash('sha256').update(given.value).digest('hex')
  return {
    toolUseId: '',
    idempotencyKey: null,
    toolName: null,
    outcome: 'output',
    digest,
    // as it is with the service's
    sha256: given.kind === 'binary' ? digest : null,
    plan: planValue(given.value, given.view),
    preview,
    hint,
    shown: planShown(given.content, { preview, hint }),
    failureKey: null,
    verbatimLimitChars: 30_000,
    ...given,
  }
}

/** The value's chunks as an upload takes them, each with memory of its own. */
export function chunksIn({ value, plan }: Put): readonly Chunk[] {
  return plan.chunks.map(({ endByte, ...place }) => ({
    ...place,
    bytes: Buffer.from(value.subarray(place.firstByte, endByte)),
  }))
}

/** The put as an upload is finished with. */
export function streamed({ value, plan, digest, ...put }: TestPut): StreamedPut {
  return { ...put, sha256: digest, totalBytes: value.length, totals: plan.view }
}

export async function chunksOf(
  ledger: Ledger,
  result: Result,
  seek: Parameters<Ledger['chunks']>[1] = { byte: 0 },
): Promise<readonly Chunk[]> {
  const chunks: Chunk[] = []
  for await (const chunk of ledger.chunks(result, seek)) chunks.push(chunk)
  return chunks
}

/** The bytes of a result's value. */
export async function bytesOf(ledger: Ledger, result: Result): Promise<Buffer> {
  return Buffer.concat((await chunksOf(ledger, result)).map(({ bytes }) => bytes))
}

/** The code of the error that `promise` rejects with; undefined when it does not. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
    return undefined
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error
  }
}
