/** Lists of results. */
import type { Page, RunRef } from '../ledger/ledger.ts'
import { type ResultDescription, resultDescription } from './answer.ts'
import { type RunContext, readableRun } from './context.ts'

export async function listResults(
  context: RunContext,
  ref: RunRef,
  query: { readonly limit: number; readonly after?: string; readonly tool_use_id?: string },
): Promise<Page<ResultDescription>> {
  await readableRun(context, ref)
  const { limit, after, tool_use_id: toolUseId } = query
  const { items, next } = await context.ledger.listResults(ref, { limit, after, toolUseId })
  return { items: items.map((result) => resultDescription(ref, result)), next }
}
