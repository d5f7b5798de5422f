/**
 * Put: keep a result, and answer with what goes into the transcript in its place. Nothing is answered before it is kept.
 */
import { planShown, type Render } from '../core/content.ts'
import type { Put, RunRef } from '../ledger/ledger.ts'
import { contentAnswer, type PutAnswer, resultAnswer } from './answer.ts'
import { openRunOf, type RunContext } from './context.ts'
import { sha256Hex } from './digest.ts'
import { planContent } from './render.ts'
import { contentOf } from './results.ts'
import { describeSource, failureMessage, type PutSource } from './value.ts'

export interface PutRequest {
  /** Empty when the caller gave none. */
  readonly toolUseId: string
  readonly toolName: string | null
  readonly idempotencyKey: string | null
  readonly render: Render
  readonly source: PutSource
}

/**
 * Keeps a result. `retried`: it was there, and the answer is the one it got then, in the rendering now asked for.
 * Throws `ended`, `expired`, `evicted`, `over_limit`, and what a ledger throws; then nothing is kept.
 */
export async function putResult(
  context: RunContext,
  ref: RunRef,
  request: PutRequest,
): Promise<{ readonly answer: PutAnswer; readonly retried: boolean }> {
  const run = await openRunOf(context, ref)
  const { source, toolName } = request
  const { json, ...value } = describeSource(source)
  const verbatimLimitChars = run?.verbatimLimitChars ?? context.limits.defaultVerbatimChars
  const binary = value.kind === 'binary'
  const content = planContent(
    {
      ...value,
      json,
      toolName,
      totalChars: binary ? null : value.plan.view.chars,
      viewBytes: value.plan.view.bytes,
      verbatimLimitChars,
    },
    request.render,
    context.limits,
  )
  const put: Put = {
    ...value,
    toolUseId: request.toolUseId,
    idempotencyKey: request.idempotencyKey,
    toolName,
    shown: planShown(content, value),
    failureKey: 'failure' in source ? failureKey(toolName, failureMessage(source.failure)) : null,
    verbatimLimitChars,
  }
  const { result, retried } = await context.ledger.append(ref, put, context.now())
  // A retry may differ from what is kept (another tool name, or any bytes under the same idempotency key).
  const answered = retried
    ? await contentOf(context, result, request.render)
    : contentAnswer(result, content)
  return { answer: { ...resultAnswer(ref, result), ...answered }, retried }
}

/** Tells whether two failures are the same: tool and whole message. */
const failureKey = (toolName: string | null, message: string): string =>
  sha256Hex(JSON.stringify([toolName, message]))
