/** Pages: what a list answers of the rows it found. */
import type { Page } from '../ledger.ts'

/** A page of `items`, which has one more than `limit` when another page follows; its `next` names its last. */
export function pageOf<Item>(
  items: readonly Item[],
  limit: number,
  nameOf: (item: Item) => string,
): Page<Item> {
  const page = items.slice(0, limit)
  const last = page.at(-1)
  return { items: page, next: items.length > limit && last !== undefined ? nameOf(last) : null }
}
