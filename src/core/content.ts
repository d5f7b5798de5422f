/**
 * What goes into the transcript in place of a result. Planning reads the value and needs no names; composing needs only
 * the names that the commit drew (handle, recall name, how often a failure has repeated). The split is what lets the
 * ledger count shown characters in the committing transaction, and gives the same bytes on every later read.
 */
import { compactFailure, repeatedFailure } from './failures.ts'
import { escapeId, handleOf } from './names.ts'
import { rawReadHint, referenceHint } from './preview.ts'
import { composeWindow, type Omitted, type WindowPlan } from './window.ts'

export const RENDERS = ['auto', 'verbatim', 'preview', 'window'] as const
/** What a caller asks for. */
export type Render = (typeof RENDERS)[number]

export const RENDERINGS = ['verbatim', 'preview', 'window', 'compacted', 'none'] as const
/** What a content is: the whole, a preview with its hint, a window, a compacted failure, or nothing (a suspension). */
export type Rendering = (typeof RENDERINGS)[number]

/** Which hint goes with a result's preview: by reference, by raw read (a binary), or by recall (it does not resolve). */
export type HintKind = 'reference' | 'raw_read' | 'recall'

export type ContentPlan =
  | { readonly rendering: 'verbatim'; readonly text: string }
  | { readonly rendering: 'preview' }
  | { readonly rendering: 'window'; readonly window: WindowPlan }
  | { readonly rendering: 'compacted'; readonly tool: string; readonly message: string }
  | { readonly rendering: 'none' }

/** What the commit draws for a result. */
export interface ResultNames {
  /** The n of its handle `rn`. */
  readonly number: number
  /** What a note calls it in a recall: its evidence id, or its handle when the id is long. */
  readonly recallName: string
  /** How many times in a row this failure has now happened in its run; 1 for all else. */
  readonly repeats: number
}

export interface Content {
  readonly content: string | null
  readonly rendering: Rendering
  readonly omitted: Omitted | null
}

export function hintOf(kind: HintKind, names: ResultNames): string {
  switch (kind) {
    case 'reference':
      return referenceHint(handleOf(names.number))
    case 'raw_read':
      return rawReadHint(handleOf(names.number))
    case 'recall':
      return `\n[recall {"id": "${escapeId(names.recallName)}"} returns it whole]`
    default:
      /* v8 ignore next -- @preserve */
      return kind satisfies never
  }
}

/** The content by its plan. `preview` is the stored part of the preview after the handle. */
export function composeContent(
  plan: ContentPlan,
  result: { readonly names: ResultNames; readonly preview: string; readonly hint: HintKind },
): Content {
  const { names } = result
  switch (plan.rendering) {
    case 'verbatim':
      return { content: plan.text, rendering: 'verbatim', omitted: null }
    case 'preview': {
      const content = handleOf(names.number) + result.preview + hintOf(result.hint, names)
      return { content, rendering: 'preview', omitted: null }
    }
    case 'window': {
      const content = composeWindow(
        plan.window,
        escapeId(names.recallName),
        cutNote(plan.window, names),
      )
      return { content, rendering: 'window', omitted: plan.window.omitted }
    }
    case 'compacted':
      return composeFailure(plan, names)
    case 'none':
      return { content: null, rendering: 'none', omitted: null }
    default:
      /* v8 ignore next -- @preserve */
      return plan satisfies never
  }
}

/** How the rest of shortened lines is recalled. */
function cutNote({ cut }: WindowPlan, { recallName }: ResultNames): string | null {
  if (cut === null) return null
  const what = cut.lines === 1 ? '1 line is' : `${cut.lines} lines are`
  const call = `recall {"id": "${escapeId(recallName)}", "chars": {"start": ${cut.start}, "end": ${cut.end}}}`
  return `[${what} cut; ${call} returns the rest]`
}

function composeFailure(
  { tool, message }: { readonly tool: string; readonly message: string },
  { recallName, repeats }: ResultNames,
): Content {
  const text = repeats > 1 ? repeatedFailure(tool, repeats) : compactFailure(message)
  if (text === message) return { content: text, rendering: 'verbatim', omitted: null }
  const note = `\n[recall {"id": "${escapeId(recallName)}"} returns the whole error]`
  return { content: text + note, rendering: 'compacted', omitted: null }
}
