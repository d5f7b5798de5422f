/**
 * The member names of the objects that a scan is inside of. When an object ends, its repeated names are found, so that of
 * each only the last member counts. Names are told apart by a hash, and read only where two hashes agree.
 *
 * Time goes with the number of names, also for names that were chosen to collide: those go into a `Map`, which hashes with
 * a secret. Memory goes with the names that are open, 12 bytes each, and at most 8 more while an object ends.
 */
import { escapeBytes, escapedCode, utf8Bytes } from './escape.ts'
import { JsonSlice, skipString } from './slice.ts'
import { decodeRaw } from './strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** A name's hash: over its bytes, `hash * HASH_FACTOR + byte`. */
export const HASH_FACTOR = 31
const SPREAD_FACTOR = 0x9e3779b1
/** Fields of an open name: its hash, where its token starts, and how much compact JSON comes before it. */
const FIELDS = 3
const FIRST_NAMES = 32
/** Up to this many names, comparing all hashes costs less than a table. */
const PAIRWISE_NAMES = 8
const FIRST_SLOTS = 64
const SLOTS_PER_NAME = 1.25
/** Past this many looks per name the hashes are taken to collide on purpose. */
const LOOKS_PER_NAME = 32

/** The hash that a scan takes byte by byte, of an escaped name: equal for every spelling of a name. */
export function hashEscaped(bytes: Uint8Array, start: number): number {
  let hash = 0
  let pos = start + 1
  for (let byte = bytes[pos] as number; byte !== QUOTE; byte = bytes[pos] as number) {
    if (byte !== BACKSLASH) {
      hash = (Math.imul(hash, HASH_FACTOR) + byte) | 0
      pos++
      continue
    }
    const code = escapedCode(bytes, pos)
    pos += escapeBytes(bytes, pos, code)
    for (let left = utf8Bytes(code) - 1, lead = LEADS[left] as number; left >= 0; left--) {
      const unit = (code >> (6 * left)) & (lead === 0 ? 0x7f : 0x3f)
      hash = (Math.imul(hash, HASH_FACTOR) + (lead | unit)) | 0
      lead = 0x80
    }
  }
  return hash
}

/** What the first byte of a code point has set besides its bits, by how many bytes follow. */
const LEADS: readonly number[] = [0, 0xc0, 0xe0, 0xf0]

export class OpenKeys {
  readonly #bytes: Buffer
  #names = new Int32Array(FIRST_NAMES * FIELDS)
  #slots = new Uint32Array(0)
  /** Slots hold numbers that are never used twice, so that the table need not be cleared for the next object. */
  #used = 1
  #repeats = 0
  /** What the members that did not count in the object closed last, and their commas, take in compact JSON. */
  repeatedBytes = 0
  /** Names of all open objects; what {@link close} takes is the count before an object's first. */
  count = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  add(hash: number, start: number, compactBefore: number): void {
    const at = this.count++ * FIELDS
    if (at === this.#names.length) {
      const larger = new Int32Array(this.#names.length * 2)
      larger.set(this.#names)
      this.#names = larger
    }
    const names = this.#names
    names[at] = hash
    names[at + 1] = start
    names[at + 2] = compactBefore
  }

  /** Ends the object whose names stand from `first` on; says how many of its members do not count. */
  close(first: number): number {
    const names = this.count - first
    this.#repeats = 0
    this.repeatedBytes = 0
    if (names > PAIRWISE_NAMES) this.#closeLarge(first, names)
    else if (names > 1) this.#closeSmall(first)
    this.count = first
    return this.#repeats
  }

  #closeSmall(first: number): void {
    const names = this.#names
    const end = this.count * FIELDS
    for (let i = first * FIELDS; i < end; i += FIELDS) {
      const hash = names[i]
      for (let j = i + FIELDS; j < end; j += FIELDS) {
        if (hash === names[j] && this.#same(i, j)) {
          this.#drop(i)
          break
        }
      }
    }
  }

  #closeLarge(first: number, count: number): void {
    const names = this.#names
    const slots = this.#slotsFor(count)
    const mask = slots.length - 1
    const base = this.#used
    this.#used += count
    let looks = count * LOOKS_PER_NAME
    for (let i = 0; i < count; i++) {
      const at = (first + i) * FIELDS
      const hash = names[at] as number
      const mixed = Math.imul(hash ^ (hash >>> 15), SPREAD_FACTOR)
      let slot = (mixed ^ (mixed >>> 15)) & mask
      for (let other = slots[slot] as number; other >= base; other = slots[slot] as number) {
        const earlier = (first + other - base) * FIELDS
        if (names[earlier] === hash && this.#same(earlier, at)) {
          this.#drop(earlier)
          break
        }
        if (--looks < 0) {
          this.#closeByName(first)
          return
        }
        slot = (slot + 1) & mask
      }
      slots[slot] = base + i
    }
  }

  #closeByName(first: number): void {
    const last = new Map<string, number>()
    this.#repeats = 0
    this.repeatedBytes = 0
    for (let at = first * FIELDS; at < this.count * FIELDS; at += FIELDS) {
      const name = decodeRaw(this.#token(at))
      const earlier = last.get(name)
      if (earlier !== undefined) this.#drop(earlier)
      last.set(name, at)
    }
  }

  #slotsFor(count: number): Uint32Array {
    let length = Math.max(FIRST_SLOTS, this.#slots.length)
    while (length < count * SLOTS_PER_NAME) length *= 2
    if (length !== this.#slots.length) this.#slots = new Uint32Array(length)
    return this.#slots
  }

  /** The member at `at` does not count; it ends where the next one begins. */
  #drop(at: number): void {
    const names = this.#names
    this.#repeats++
    this.repeatedBytes += (names[at + FIELDS + 2] as number) - (names[at + 2] as number)
  }

  #same(a: number, b: number): boolean {
    const bytes = this.#bytes
    let left = this.#names[a + 1] as number
    let right = this.#names[b + 1] as number
    for (let byte = QUOTE; byte === bytes[right]; byte = bytes[left] as number) {
      if (byte === BACKSLASH) break
      left++
      right++
      if (byte === QUOTE && left > (this.#names[a + 1] as number) + 1) return true
    }
    const isPlain = bytes[left] !== BACKSLASH && bytes[right] !== BACKSLASH
    return !isPlain && decodeRaw(this.#token(a)) === decodeRaw(this.#token(b))
  }

  #token(at: number): JsonSlice {
    const start = this.#names[at + 1] as number
    return new JsonSlice(this.#bytes, start, skipString(this.#bytes, start))
  }
}
