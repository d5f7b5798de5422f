/**
 * Makes the content: the text that stands in the transcript in place of a result. Planning reads
 * the value and needs no names. Composing needs only the names that the commit draws: handle,
 * recall name, and how often a failure has repeated. So every later read composes the same bytes. A
 * {@link ShownPlan} is the small part of a plan with which the committing transaction counts its
 * characters.
 */
import { compactFailure, repeatedFailure } from './failures.ts'
import { escapeId, handleOf } from './handles.ts'
import { rawReadHint, referenceHint } from './preview/preview.ts'
import { charsOf } from './text.ts'
import { composeWindow, type Omitted, type WindowPlan } from './window/window.ts'

export const RENDERS = ['auto', 'verbatim', 'preview', 'window'] as const
/** Rendering that a caller asks for. */
export type Render = (typeof RENDERS)[number]

export const RENDERINGS = ['verbatim', 'preview', 'window', 'compacted', 'none'] as const
/**
 * Rendering of a content: the whole value, a preview with its hint, a window, a compacted failure,
 * or nothing (a suspension).
 */
export type Rendering = (typeof RENDERINGS)[number]

/**
 * Hint after a preview: how to reach the value by reference, by raw read (a binary), or by recall
 * (it does not resolve).
 */
export type HintKind = 'reference' | 'raw_read' | 'recall'

/** A content before its names are known. */
export type ContentPlan =
  | { readonly rendering: 'verbatim'; readonly text: string }
  | { readonly rendering: 'preview' }
  | { readonly rendering: 'window'; readonly window: WindowPlan }
  | { readonly rendering: 'compacted'; readonly tool: string; readonly message: string }
  | { readonly rendering: 'none' }

/** Names that the commit draws for a result. */
export interface ResultNames {
  /** The n of its handle `rn`. */
  readonly number: number
  /** Name in the recall calls of notes: the evidence id, or the handle when the id is long. */
  readonly recallName: string
  /** How many times in a row this failure has happened in its run; 1 for other results. */
  readonly repeats: number
}

/** A composed content. */
export interface Content {
  readonly content: string | null
  readonly rendering: Rendering
  readonly omitted: Omitted | null
}

/**
 * The hint of a result with these names. Starts with a line end.
 *
 * @example hintOf('recall', { number: 1, recallName: 't', repeats: 1 }) // '\n[recall {"id": "t"} returns it whole]'
 */
export function hintOf(kind: HintKind, names: ResultNames): string {
  switch (kind) {
    case 'reference':
      return referenceHint(handleOf(names.number))
    case 'raw_read':
      return rawReadHint(handleOf(names.number))
    case 'recall':
      return `\n[recall {"id": "${escapeId(names.recallName)}"} returns it whole]`
    default:
      /* istanbul ignore next -- @preserve */
      return kind satisfies never
  }
}

/**
 * Composes the content of a plan. `preview` is the stored part of the preview, after the handle.
 *
 * @example composeContent({ rendering: 'verbatim', text: 'a' }, { names: { number: 1, recallName: 't', repeats: 1 }, preview: '', hint: 'recall' }).content // 'a'
 */
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
      /* istanbul ignore next -- @preserve */
      return plan satisfies never
  }
}

/** Note that names the recall call for the rest of shortened lines; null without any. */
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

/**
 * The part of a {@link ContentPlan} that counting its characters needs. Small, however long the
 * content is.
 */
export type ShownPlan =
  | { readonly rendering: 'verbatim' | 'none'; readonly chars: number }
  | { readonly rendering: 'preview'; readonly chars: number; readonly hint: HintKind }
  /** `chars` does not count the recall names in its notes; there are `recalls` of them. */
  | { readonly rendering: 'window'; readonly chars: number; readonly recalls: number }
  | {
      readonly rendering: 'compacted'
      /** Characters of a failure that is the first in a row, without recall names. */
      readonly chars: number
      readonly recalls: number
      readonly tool: string
      /** Null for a message longer than any note of a repeat. */
      readonly message: string | null
    }

/** Decimal digits of the largest count there is. */
const REPEATS_DIGITS = 16
const NAMELESS: ResultNames = { number: 1, recallName: '', repeats: 1 }

/**
 * Reduces a plan to what counting needs. `preview` is the stored part of the preview, after the
 * handle.
 *
 * @example planShown({ rendering: 'verbatim', text: 'abc' }, { preview: '', hint: 'recall' }).chars // 3
 */
export function planShown(
  plan: ContentPlan,
  { preview, hint }: { readonly preview: string; readonly hint: HintKind },
): ShownPlan {
  const { rendering } = plan
  if (rendering === 'preview') return { rendering, chars: charsOf(preview), hint }
  const names = NAMELESS
  if (rendering === 'window') {
    const { head, tail, omitted, cut } = plan.window
    // The characters of the long parts are known already.
    const window = { ...plan.window, head: { ...head, text: '' }, tail: { ...tail, text: '' } }
    const { content } = composeContent({ rendering, window }, { names, preview, hint })
    const recalls = (omitted === null ? 0 : 1) + (cut === null ? 0 : 1)
    return { rendering, chars: charsOf(content as string) + head.chars + tail.chars, recalls }
  }
  const { content, ...nameless } = composeContent(plan, { names, preview, hint })
  const chars = content === null ? 0 : charsOf(content)
  switch (rendering) {
    case 'verbatim':
    case 'none':
      return { rendering, chars }
    case 'compacted': {
      const { tool, message } = plan
      const longest = repeatedFailure(tool, 1).length + REPEATS_DIGITS
      return {
        rendering,
        chars,
        recalls: nameless.rendering === 'compacted' ? 1 : 0,
        tool,
        message: message.length > longest ? null : message,
      }
    }
    default:
      /* istanbul ignore next -- @preserve */
      return rendering satisfies never
  }
}

/**
 * Characters of the content that {@link composeContent} makes of the plan.
 *
 * @example shownChars({ rendering: 'none', chars: 0 }, { number: 1, recallName: 't', repeats: 1 }) // 0
 */
export function shownChars(plan: ShownPlan, names: ResultNames): number {
  switch (plan.rendering) {
    case 'verbatim':
    case 'none':
      return plan.chars
    case 'preview':
      return plan.chars + handleOf(names.number).length + charsOf(hintOf(plan.hint, names))
    case 'window':
      return plan.chars + plan.recalls * charsOf(escapeId(names.recallName))
    case 'compacted': {
      if (names.repeats > 1) {
        const { content } = composeFailure({ tool: plan.tool, message: plan.message ?? '' }, names)
        return charsOf(content as string)
      }
      return plan.chars + plan.recalls * charsOf(escapeId(names.recallName))
    }
    default:
      /* istanbul ignore next -- @preserve */
      return plan satisfies never
  }
}
