/**
 * Plans a compaction: what to summarize, and the text that asks a model for the summary. The
 * service calls no model. The caller does, and hands the answer to `apply`, which cuts the same
 * messages at the same places.
 */
import type { JsonSlice } from '../json/slice.ts'
import { findCut } from './cut.ts'
import { extractFacts, type Facts } from './facts.ts'
import { readMessages } from './messages.ts'
import { summaryRequest } from './request.ts'

/** Answer to a plan. */
export interface CompactionPlan {
  readonly compactable: boolean
  /** Message indices from 0, half-open; null when there is nothing to summarize. */
  readonly summarize: { readonly start: number; readonly end: number } | null
  /** Number of user turns of that range that will be kept. */
  readonly preserved_user_turns: number
  /** Index of the first message kept after the summary; the number of messages when none is. */
  readonly tail_start: number
  readonly split_turn: boolean
  readonly facts: Facts
  /** At most 80,000 code points; null when there is nothing to summarize. */
  readonly summary_request: string | null
}

/**
 * Plans a compaction. `preserveTokens` bounds the kept user turns, by a rough count. Throws
 * `invalid_request` when `messages` is no transcript.
 *
 * @example planCompaction(json('[]'), 0).summarize // null
 */
export function planCompaction(messages: JsonSlice, preserveTokens: number): CompactionPlan {
  const read = readMessages(messages)
  const cut = findCut(read, preserveTokens)
  if (cut === undefined) {
    return {
      compactable: false,
      summarize: null,
      preserved_user_turns: 0,
      tail_start: 0,
      split_turn: false,
      facts: { files_touched: [], notable_lines: [] },
      summary_request: null,
    }
  }
  const facts = extractFacts(read.slice(cut.start, cut.end))
  return {
    compactable: true,
    summarize: { start: cut.start, end: cut.end },
    preserved_user_turns: cut.preserved.length,
    tail_start: cut.end,
    split_turn: cut.splitTurn,
    facts,
    summary_request: summaryRequest(read, cut, facts),
  }
}
