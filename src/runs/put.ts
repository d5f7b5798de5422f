/**
 * Put: keep a result, and answer with what goes into the transcript in its place. Nothing is answered before it is kept. A
 * value that is here is kept at once; one that arrives in pieces goes to the ledger as it comes, and is a result when all of
 * it is there.
 */
import {
  type ContentPlan,
  planShown,
  type Render,
  type ShownPlan,
  shownChars,
} from '../core/content.ts'
import { sha256Hex } from '../ledger/digest.ts'
import type { Put, Result, RunRef } from '../ledger/ledger.ts'
import { contentAnswer, type PutAnswer, resultAnswer } from './answer.ts'
import { openRunOf, type RunContext, requireInline } from './context.ts'
import {
  describeSource,
  failureMessage,
  type PutSource,
  pauseFor,
  type StreamSource,
  type WholeSource,
} from './describe.ts'
import { joined, partsInMemory, partsRead } from './parts.ts'
import { ingest } from './put-stream.ts'
import { planContent } from './render.ts'
import { contentOf } from './results.ts'

export interface PutRequest<Source extends PutSource = PutSource> {
  /** Empty when the caller gave none. */
  readonly toolUseId: string
  readonly toolName: string | null
  readonly idempotencyKey: string | null
  readonly render: Render
  readonly source: Source
}

export interface PutOutcome {
  readonly answer: PutAnswer
  /** It was there, and nothing more is kept. */
  readonly retried: boolean
  /** Characters of the content, as the run counts them: those of a retry are not counted again. */
  readonly shownChars: number
}

/** What was kept, and what was planned for it; of a retry that may be nothing. */
interface Kept {
  readonly result: Result
  readonly retried: boolean
  readonly content?: ContentPlan
  readonly shown?: ShownPlan
  /** Of the value that was put, where it was worked on here. */
  readonly ownBytes?: number
}

/**
 * Keeps a result. The answer of a retry is the one it got then, in the rendering now asked for.
 * Throws `ended`, `expired`, `evicted`, `over_limit`, what a ledger throws, and what the pieces throw; then nothing is kept.
 */
export async function putResult(
  context: RunContext,
  ref: RunRef,
  request: PutRequest,
): Promise<PutOutcome> {
  const run = await openRunOf(context, ref)
  const { source } = request
  const limitChars = run?.verbatimLimitChars ?? context.limits.defaultVerbatimChars
  const {
    result,
    retried,
    content,
    shown,
    ownBytes = 0,
  } = 'pieces' in source
    ? ((await retryKnown(context, ref, { ...request, source })) ??
      (await putPieces(context, ref, { ...request, source }, limitChars)))
    : await putWhole(context, ref, { ...request, source }, limitChars)
  // A retry may differ from what is kept (another tool name, or any bytes under the same idempotency key).
  const answered =
    retried || content === undefined
      ? await contentOf(atLeastInline(context, ownBytes), result, request.render)
      : contentAnswer(result, content)
  return {
    answer: { ...resultAnswer(ref, result), ...answered },
    retried,
    shownChars: retried || shown === undefined ? 0 : shownChars(shown, result),
  }
}

async function putWhole(
  context: RunContext,
  ref: RunRef,
  request: PutRequest<WholeSource>,
  verbatimLimitChars: number,
): Promise<Kept> {
  const { source, toolName } = request
  await requireSmallRetry(context, ref, request)
  const { json, ...described } = await describeSource(source)
  const { value, plan, view } = described
  await pauseFor(value.length)
  const content = await planContent(
    {
      ...described,
      toolName,
      totalChars: plan.view.chars,
      totalLines: plan.view.lines,
      verbatimLimitChars,
      readWhole: async () => ({ value, json }),
      readPart: partsInMemory(value, plan, view),
    },
    request.render,
    context.limits,
  )
  const put: Put = {
    ...described,
    ...namesOf(request),
    shown: planShown(content, described),
    failureKey: 'failure' in source ? failureKey(toolName, failureMessage(source.failure)) : null,
    verbatimLimitChars,
  }
  const { shown } = put
  const ownBytes = value.length
  return { ...(await context.ledger.append(ref, put, context.now())), content, shown, ownBytes }
}

/** Throws `LargeWork` while the body is still here, when its key is that of a value too large to be shown again here. */
async function requireSmallRetry(
  context: RunContext,
  ref: RunRef,
  { idempotencyKey }: PutRequest,
): Promise<void> {
  if (idempotencyKey === null) return
  const known = await context.ledger.findResult(ref, { idempotencyKey })
  if (known !== undefined) requireInline(context, known.totalBytes)
}

/** A value of so many bytes has been worked on here, and may be again. */
const atLeastInline = (context: RunContext, bytes: number): RunContext => ({
  ...context,
  limits: { ...context.limits, inlineBytes: Math.max(context.limits.inlineBytes, bytes) },
})

/** Of a key that is there already the pieces are taken, since the client sends them, and none is kept. */
async function retryKnown(
  context: RunContext,
  ref: RunRef,
  { idempotencyKey, source }: PutRequest<StreamSource>,
): Promise<Kept | undefined> {
  if (idempotencyKey === null) return undefined
  const result = await context.ledger.findResult(ref, { idempotencyKey })
  if (result === undefined) return undefined
  for await (const _ of source.pieces);
  await openRunOf(context, ref)
  return { result, retried: true }
}

async function putPieces(
  context: RunContext,
  ref: RunRef,
  request: PutRequest<StreamSource>,
  verbatimLimitChars: number,
): Promise<Kept> {
  const upload = await context.ledger.openUpload(ref, context.now(), {
    ...namesOf(request),
    totalBytes: request.source.declaredBytes,
  })
  try {
    const described = await ingest(upload, request.source)
    const { view, totals } = described
    const content = await planContent(
      {
        ...described,
        toolName: request.toolName,
        totalChars: totals.chars,
        totalLines: totals.lines,
        verbatimLimitChars,
        readWhole: async () => ({
          value: await joined(upload.chunks({ byte: 0 }), described.totalBytes),
          json: undefined,
        }),
        readPart: partsRead((seek) => upload.chunks(seek), view),
      },
      request.render,
      context.limits,
    )
    const put = {
      ...described,
      ...namesOf(request),
      shown: planShown(content, described),
      failureKey: null,
      verbatimLimitChars,
    }
    return { ...(await upload.finish(put, context.now())), content, shown: put.shown }
  } finally {
    await upload.abort()
  }
}

const namesOf = ({
  toolUseId,
  idempotencyKey,
  toolName,
}: PutRequest): Pick<Put, 'toolUseId' | 'idempotencyKey' | 'toolName'> => ({
  toolUseId,
  idempotencyKey,
  toolName,
})

/** Tells whether two failures are the same: tool and whole message. */
const failureKey = (toolName: string | null, message: string): string =>
  sha256Hex(JSON.stringify([toolName, message]))
