/** Fills a page with items in order, up to its limit and its bound. */
import type { Page, PageQuery } from '../../lists.ts'

/** A page that is being filled. */
export class PageBuilder<Item> {
  readonly #query: PageQuery<Item>
  readonly #nameOf: (item: Item) => string
  readonly #items: Item[] = []
  #bytes = 0
  #isFull = false

  /** `nameOf` makes the `next` of a page from its last item. */
  constructor(query: PageQuery<Item>, nameOf: (item: Item) => string) {
    this.#query = query
    this.#nameOf = nameOf
  }

  /** Adds an item. False when this item and all after it belong on the following page. */
  add(item: Item): boolean {
    const { limit, bound } = this.#query
    if (bound !== undefined) this.#bytes += bound.bytesOf(item)
    const isOver = bound !== undefined && this.#bytes > bound.maxBytes
    this.#isFull = this.#items.length >= limit || (isOver && this.#items.length > 0)
    if (!this.#isFull) this.#items.push(item)
    return !this.#isFull
  }

  /** Returns the page. */
  page(): Page<Item> {
    const last = this.#items.at(-1)
    return { items: this.#items, next: this.#isFull && last ? this.#nameOf(last) : null }
  }
}
