/**
 * Puts: store a result and answer with the content for the transcript. The result is stored before
 * the answer. A value in memory is stored at once. A value that arrives in pieces is written to the
 * ledger as it arrives, and becomes a result once it is complete.
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

/** Request to store a result. */
export interface PutRequest<Source extends PutSource = PutSource> {
  /** Id of the tool call; empty when the caller gave none. */
  readonly toolUseId: string
  readonly toolName: string | null
  readonly idempotencyKey: string | null
  readonly render: Render
  readonly source: Source
}

/** Answer to a put and its effect. */
export interface PutOutcome {
  readonly answer: PutAnswer
  /** True for a retry, which stores nothing. */
  readonly retried: boolean
  /** Characters of the content that this put adds to the run's `shown_chars`; 0 for a retry. */
  readonly shownChars: number
}

/** Stored result and its planned content. A retry may have no plan. */
interface Kept {
  readonly result: Result
  readonly retried: boolean
  readonly content?: ContentPlan
  readonly shown?: ShownPlan
  /** Bytes of the value, when it was worked on in this thread. */
  readonly ownBytes?: number
}

/**
 * Stores a result. A retry gets the stored result in the rendering that it asks for. Throws
 * `ended`, `expired`, `evicted`, `over_limit`, and what the ledger and the pieces throw; then
 * nothing is stored.
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
  // A retry may differ from the stored result: in its tool name, or with an idempotency key in its
  // bytes too.
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

/**
 * Throws `LargeWork` when the idempotency key names a result that is too large to be rendered in
 * this thread. Called before the body is used.
 */
async function requireSmallRetry(
  context: RunContext,
  ref: RunRef,
  { idempotencyKey }: PutRequest,
): Promise<void> {
  if (idempotencyKey === null) return
  const known = await context.ledger.findResult(ref, { idempotencyKey })
  if (known !== undefined) requireInline(context, known.totalBytes)
}

/**
 * The context with an inline limit of at least `bytes`, for a value of that size that was already
 * worked on in this thread.
 */
const atLeastInline = (context: RunContext, bytes: number): RunContext => ({
  ...context,
  limits: { ...context.limits, inlineBytes: Math.max(context.limits.inlineBytes, bytes) },
})

/**
 * The result of a known idempotency key. Reads the pieces to their end, since the client sends
 * them, and stores none. Undefined when the key is new.
 */
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

/** Key that equal failures share: digest of the tool and the whole message. */
const failureKey = (toolName: string | null, message: string): string =>
  sha256Hex(JSON.stringify([toolName, message]))
