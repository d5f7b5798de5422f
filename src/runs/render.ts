/**
 * Plans the content of a result, from its description and the rendering that was asked for. Reads
 * only what the plan needs: nothing for a preview, and for a window the parts that it shows.
 */

import type { ContentPlan, Render } from '../core/content.ts'
import { CoatcheckError } from '../core/errors.ts'
import { contentStringWithin } from '../core/json/canonical.ts'
import type { JsonSlice } from '../core/json/slice.ts'
import type { ViewSource } from '../core/view/view.ts'
import { type WindowPlan, windowSteps } from '../core/window/window.ts'
import type { Kind, Outcome } from '../ledger/ledger.ts'
import { wholeView } from './describe.ts'
import type { ReadPart } from './parts.ts'

/** Name of the tool in the content of a failure when it is unknown. Elision uses the same name. */
const ANY_TOOL = 'tool'

/** Description of a result, and access to its value. */
export interface Renderable {
  readonly outcome: Outcome
  readonly kind: Kind
  readonly toolName: string | null
  readonly view: ViewSource
  /** Characters of the text view; null for a binary. */
  readonly totalChars: number | null
  /** Lines of the text view; null for a binary. */
  readonly totalLines: number | null
  /** The run's limit for verbatim contents and windows, in characters. */
  readonly verbatimLimitChars: number
  readonly readWhole: () => Promise<WholeValue>
  readonly readPart: ReadPart
}

/** A whole value. */
export interface WholeValue {
  readonly value: Buffer
  /** The value as JSON; undefined when it is not JSON. */
  readonly json: JsonSlice | undefined
}

/** Limits of rendering. */
export interface RenderLimits {
  /** Most characters of `render: verbatim`. Beyond it: `over_limit`. */
  readonly maxVerbatimChars: number
}

/** Plans the content of a result. Throws `over_limit`, and what reading the value throws. */
export async function planContent(
  result: Renderable,
  render: Render,
  limits: RenderLimits,
): Promise<ContentPlan> {
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

async function planAuto(result: Renderable): Promise<ContentPlan> {
  if (result.outcome === 'failure') {
    const message = await viewText(result)
    return { rendering: 'compacted', tool: result.toolName ?? ANY_TOOL, message }
  }
  if (result.kind === 'text') return planWindowed(result)
  const text = await contentText(result, result.verbatimLimitChars)
  return text === undefined ? { rendering: 'preview' } : { rendering: 'verbatim', text }
}

async function planVerbatim(result: Renderable, maxChars: number): Promise<ContentPlan> {
  const isJson = result.view.form === 'json'
  const text = isJson ? await contentText(result, maxChars) : await textWithin(result, maxChars)
  if (text !== undefined) return { rendering: 'verbatim', text }
  throw new CoatcheckError(
    'over_limit',
    `The result has more than ${maxChars} characters, too many for render=verbatim. Use render=window or preview, and recall or reference the rest.`,
    { limit: 'verbatim_max_chars', value: maxChars },
  )
}

async function planWindowed(result: Renderable): Promise<ContentPlan> {
  const { totalChars: chars, totalLines: lines, verbatimLimitChars: limitChars } = result
  const size = { chars: chars as number, lines: lines as number }
  const window = await readWindow(windowSteps(size, { limitChars }), result.readPart)
  return window === undefined
    ? { rendering: 'verbatim', text: await viewText(result) }
    : { rendering: 'window', window }
}

async function readWindow(
  steps: ReturnType<typeof windowSteps>,
  readPart: ReadPart,
): Promise<WindowPlan | undefined> {
  let step = steps.next()
  while (!step.done) step = steps.next(await readPart(step.value))
  return step.value
}

/** Text view of a whole value. */
async function viewText({ readWhole, view }: Renderable): Promise<string> {
  const { value } = await readWhole()
  return wholeView(value, view).toString('utf8')
}

async function textWithin(result: Renderable, maxChars: number): Promise<string | undefined> {
  return (result.totalChars as number) <= maxChars ? viewText(result) : undefined
}

async function contentText(
  { readWhole }: Renderable,
  maxChars: number,
): Promise<string | undefined> {
  const { json } = await readWhole()
  return contentStringWithin(json as JsonSlice, maxChars)
}
