/**
 * Plans a compaction. When a run is named, the transcript is stored first, so that nothing that a
 * summary replaces is lost.
 */
import { type CompactionPlan, planCompaction } from '../core/compaction/plan.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import { sha256Hex } from '../ledger/digest.ts'
import type { RunRef } from '../ledger/ledger.ts'
import type { RunContext } from './context.ts'
import { type PutOutcome, putResult } from './put.ts'

const TRANSCRIPT_TOOL = 'compaction'
const ID_DIGEST_CHARS = 16

/** Plan of a compaction. */
export interface PlannedTranscript {
  readonly plan: CompactionPlan
  /** The put of the transcript; undefined when no run was named. */
  readonly put: PutOutcome | undefined
}

/**
 * Plans a compaction of `messages`. `preserve` bounds the user messages that are kept, in tokens.
 * Throws `invalid_request` when `messages` is no transcript, and what {@link putResult} throws.
 */
export async function planTranscript(
  context: RunContext,
  input: {
    readonly messages: JsonSlice
    readonly preserve: number
    readonly ref: RunRef | undefined
  },
): Promise<PlannedTranscript> {
  const plan = planCompaction(input.messages, input.preserve)
  if (input.ref === undefined) return { plan, put: undefined }
  const put = await putResult(context, input.ref, {
    // The id is a digest of the transcript, so the same transcript is stored once, whenever it is
    // planned again.
    toolUseId: `transcript:${sha256Hex(input.messages.source).slice(0, ID_DIGEST_CHARS)}`,
    toolName: TRANSCRIPT_TOOL,
    idempotencyKey: null,
    render: 'preview',
    source: { output: input.messages },
  })
  return { plan, put }
}
