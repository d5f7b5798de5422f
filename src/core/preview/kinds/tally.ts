/** Counts of names, of which there may be very many. */
import { excerpt, MARK } from '../excerpt.ts'

const TOLD_APART = 2_048
const NAME_BYTES = 60

/** Counts names. Tells 2,048 of them apart. */
export class Tally {
  readonly #counts = new Map<string, number>()
  #hasMore = false

  add(name: string): void {
    const known = this.#counts.get(name)
    if (known !== undefined) this.#counts.set(name, known + 1)
    else if (this.#counts.size < TOLD_APART) this.#counts.set(name, 1)
    else this.#hasMore = true
  }

  /** Names that are told apart. */
  get size(): number {
    return this.#counts.size
  }

  /** {@link size}, with `+` when there are more names than are told apart. */
  get sizeText(): string {
    return `${this.#counts.size}${this.#hasMore ? '+' : ''}`
  }

  /**
   * `"a"×3|"b"×1`, the most frequent first, as many as fit in `maxBytes`; then a mark when there
   * are more.
   */
  text(maxBytes: number): string {
    const shown: string[] = []
    let room = maxBytes
    const all = [...this.#counts].toSorted((a, b) => b[1] - a[1])
    for (const [name, count] of all) {
      const text = `${excerpt(name, NAME_BYTES).text}×${count}`
      room -= Buffer.byteLength(text) + 1
      if (room < 0 && shown.length > 0) break
      shown.push(text)
    }
    if (shown.length < all.length || this.#hasMore) shown.push(MARK)
    return shown.join('|')
  }
}
