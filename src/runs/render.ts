/**
 * Which content a result gets: its plan, from the value and what was asked for.
 */

import type { ContentPlan, Render } from '../core/content.ts'
import { CoatcheckError } from '../core/errors.ts'
import { contentStringWithin } from '../core/json/canonical.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import type { ViewSource } from '../core/view.ts'
import { planWindow } from '../core/window.ts'
import type { Kind, Outcome } from '../ledger/ledger.ts'
import { wholeView } from './value.ts'

/**
 * The view of a JSON value can be far larger than the value (deep nesting is all indentation); beyond this it is previewed
 * where a window was asked for.
 */
const WINDOW_VIEW_BYTES = 64 * 1024 * 1024
/** What a failure is called whose tool is not known; as elision calls it. */
const ANY_TOOL = 'tool'

export interface Renderable {
  readonly outcome: Outcome
  readonly kind: Kind
  readonly toolName: string | null
  readonly value: Buffer
  readonly view: ViewSource
  readonly json: JsonSlice | undefined
  /** Of the text view; null for a binary. */
  readonly totalChars: number | null
  readonly viewBytes: number
  /** The run's limit for verbatim content and windows. */
  readonly verbatimLimitChars: number
}

export interface RenderLimits {
  /** Most characters of `render: verbatim`. Past it: `over_limit`. */
  readonly maxVerbatimChars: number
}

export function planContent(result: Renderable, render: Render, limits: RenderLimits): ContentPlan {
  if (result.outcome === 'suspension') return { rendering: 'none' }
  if (result.kind === 'binary') return { rendering: 'preview' }
  switch (render) {
    case 'auto':
      return planAuto(result)
    case 'verbatim':
      return planVerbatim(result, limits.maxVerbatimChars)
    case 'preview':
      return { rendering: 'preview' }
    case 'window':
      return planWindowed(result)
    default:
      return render satisfies never
  }
}

function planAuto(result: Renderable): ContentPlan {
  if (result.outcome === 'failure') {
    const message = viewText(result)
    return { rendering: 'compacted', tool: result.toolName ?? ANY_TOOL, message }
  }
  if (result.kind === 'text') return planWindowed(result)
  const text = contentStringWithin(result.json as JsonSlice, result.verbatimLimitChars)
  return text === undefined ? { rendering: 'preview' } : { rendering: 'verbatim', text }
}

function planVerbatim(result: Renderable, maxChars: number): ContentPlan {
  const text =
    result.view.form !== 'json'
      ? (result.totalChars as number) <= maxChars
        ? viewText(result)
        : undefined
      : contentStringWithin(result.json as JsonSlice, maxChars)
  if (text !== undefined) return { rendering: 'verbatim', text }
  throw new CoatcheckError(
    'over_limit',
    `The result has more than ${maxChars} characters, too many for render=verbatim. Use render=window or preview, and recall or reference the rest.`,
    { limit: 'verbatim_max_chars', value: maxChars },
  )
}

function planWindowed(result: Renderable): ContentPlan {
  if (result.viewBytes > WINDOW_VIEW_BYTES) return { rendering: 'preview' }
  const view = wholeView(result.value, result.view)
  const window = planWindow(view, { limitChars: result.verbatimLimitChars })
  return window === undefined
    ? { rendering: 'verbatim', text: view.toString('utf8') }
    : { rendering: 'window', window }
}

const viewText = ({ value, view }: Renderable): string => wholeView(value, view).toString('utf8')
