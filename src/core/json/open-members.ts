/**
 * Sizes of the members of the objects that a walk is inside of, summed when an object ends so that of a repeated name only
 * the last member counts. Names are compared by hash, and decoded only where a repetition cannot be ruled out.
 */
import { JsonSlice, skipString } from './slice.ts'
import { decodeRaw } from './strings.ts'

/** Up to this many members, comparing all hashes costs less than a map of names. */
const PAIRWISE_MEMBERS = 64

export interface MemberSum {
  readonly total: number
  /** How many different names there are. */
  readonly distinct: number
}

export class OpenMembers {
  readonly #bytes: Buffer
  readonly #keys: number[] = []
  readonly #hashes: number[] = []
  readonly #sizes: number[] = []
  /** Entries in use: the arrays keep their room, since shrinking and growing them again costs more than the sums. */
  #count = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /** Members of all open objects; what an object must hand to {@link close} is the count before its first. */
  get count(): number {
    return this.#count
  }

  /** Adds a member by where its key's token starts and a hash of the token's bytes; returns its index. */
  add(keyStart: number, hash: number): number {
    const index = this.#count++
    this.#keys[index] = keyStart
    this.#hashes[index] = hash
    return index
  }

  setSize(index: number, size: number): void {
    this.#sizes[index] = size
  }

  /** Ends the object whose members stand from `first` on; `escaped`: a key has more than one spelling. */
  close(first: number, escaped: boolean): MemberSum {
    const unsure = escaped || this.#mayRepeat(first)
    const sum = unsure ? this.#sumDistinct(first) : this.#sumAll(first)
    this.#count = first
    return sum
  }

  /** Whether two keys from `first` on have one hash, or there are too many to compare. */
  #mayRepeat(first: number): boolean {
    const hashes = this.#hashes
    if (this.#count - first > PAIRWISE_MEMBERS) return true
    for (let i = first + 1; i < this.#count; i++) {
      for (let j = first; j < i; j++) {
        if (hashes[i] === hashes[j]) return true
      }
    }
    return false
  }

  #sumAll(first: number): MemberSum {
    let total = 0
    for (let i = first; i < this.#count; i++) total += this.#sizes[i] as number
    return { total, distinct: this.#count - first }
  }

  #sumDistinct(first: number): MemberSum {
    const last = new Map<string, number>()
    let total = 0
    for (let i = first; i < this.#count; i++) {
      const start = this.#keys[i] as number
      const name = decodeRaw(new JsonSlice(this.#bytes, start, skipString(this.#bytes, start)))
      const size = this.#sizes[i] as number
      total += size - (last.get(name) ?? 0)
      last.set(name, size)
    }
    return { total, distinct: last.size }
  }
}
