/** Lists of results. */
import type { Page, RunRef } from '../ledger/ledger.ts'
import { type ResultDescription, resultDescription } from './answer.ts'
import { type RunContext, readableRun } from './context.ts'

/** A preview is as long as the names in its value; a page ends before they make it larger than this, in UTF-16 units. */
const PAGE_PREVIEW_UNITS = 4 * 1024 * 1024

export async function listResults(
  context: RunContext,
  ref: RunRef,
  query: { readonly limit: number; readonly after?: string; readonly tool_use_id?: string },
): Promise<Page<ResultDescription>> {
  await readableRun(context, ref)
  const { limit, after, tool_use_id: toolUseId } = query
  const page = await context.ledger.listResults(ref, { limit, after, toolUseId })
  const items: ResultDescription[] = []
  let room = PAGE_PREVIEW_UNITS
  for (const result of page.items) {
    room -= result.preview.length
    if (room < 0 && items.length > 0) return { items, next: items.at(-1)?.handle ?? null }
    items.push(resultDescription(ref, result))
  }
  return { items, next: page.next }
}
