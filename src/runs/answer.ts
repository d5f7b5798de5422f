/** Answers about results, in the names of the API. */
import { type ContentPlan, composeContent, hintOf, type Rendering } from '../core/content.ts'
import { handleOf } from '../core/handles.ts'
import type { Omitted } from '../core/window/window.ts'
import type { Kind, Outcome, Result, RunRef } from '../ledger/ledger.ts'

/** Short description of a result. */
export interface ResultAnswer {
  readonly run_id: string
  readonly handle: string
  readonly evidence_id: string
  readonly kind: Kind
  readonly outcome: Outcome
  readonly total_bytes: number
  readonly total_chars: number | null
  readonly total_lines: number | null
  readonly sha256: string
  readonly preview: string
  readonly hint: string
}

/** Content of a result, with its preview and hint. */
export interface ContentAnswer {
  readonly content: string | null
  readonly rendering: Rendering
  readonly omitted: Omitted | null
  readonly preview: string
  readonly hint: string
}

/** Full description of a result. */
export interface ResultDescription extends ResultAnswer {
  readonly tool_use_id: string | null
  readonly tool_name: string | null
  readonly media_type: string
  readonly created_at: string
}

/** Answer to a put. */
export type PutAnswer = ResultAnswer & ContentAnswer

/** Makes the short description of a result. */
export function resultAnswer(ref: RunRef, result: Result): ResultAnswer {
  const handle = handleOf(result.number)
  return {
    run_id: ref.run,
    handle,
    evidence_id: result.evidenceId,
    kind: result.kind,
    outcome: result.outcome,
    total_bytes: result.totalBytes,
    total_chars: result.totalChars,
    total_lines: result.totalLines,
    sha256: result.sha256,
    preview: handle + result.preview,
    hint: hintOf(result.hint, result),
  }
}

/** Makes the full description of a result. */
export function resultDescription(ref: RunRef, result: Result): ResultDescription {
  return {
    ...resultAnswer(ref, result),
    tool_use_id: result.toolUseId === '' ? null : result.toolUseId,
    tool_name: result.toolName,
    media_type: result.mediaType,
    created_at: new Date(result.createdAt).toISOString(),
  }
}

/** Writes the planned content of a result. */
export function contentAnswer(result: Result, plan: ContentPlan): ContentAnswer {
  const { preview, hint } = result
  const { content, rendering, omitted } = composeContent(plan, { names: result, preview, hint })
  return {
    content,
    rendering,
    omitted,
    preview: handleOf(result.number) + preview,
    hint: hintOf(hint, result),
  }
}
