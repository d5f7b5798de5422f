/**
 * Planning a compaction, with the transcript kept first when a run is named: nothing that a summary replaces is lost.
 */
import { type CompactionPlan, planCompaction } from '../core/compaction/plan.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import { sha256Hex } from '../ledger/digest.ts'
import type { RunRef } from '../ledger/ledger.ts'
import type { RunContext } from './context.ts'
import { type PutOutcome, putResult } from './put.ts'

const TRANSCRIPT_TOOL = 'compaction'
const ID_DIGEST_CHARS = 16

export interface PlannedTranscript {
  readonly plan: CompactionPlan
  /** The transcript, kept; undefined when no run was named. */
  readonly put: PutOutcome | undefined
}

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
    // Named by what it holds: the same transcript is kept once, however often it is planned with.
    toolUseId: `transcript:${sha256Hex(input.messages.source).slice(0, ID_DIGEST_CHARS)}`,
    toolName: TRANSCRIPT_TOOL,
    idempotencyKey: null,
    render: 'preview',
    source: { output: input.messages },
  })
  return { plan, put }
}
