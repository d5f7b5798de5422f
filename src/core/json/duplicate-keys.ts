/**
 * Finds repeated member names during a scan. It holds the names of all open objects. When an object
 * closes, each member whose name is repeated later is marked as replaced. Names are compared by
 * hash, and byte by byte where two hashes are equal.
 *
 * Time is linear in the number of names, also for names chosen to collide: those go into a `Map`,
 * which hashes with a secret. Memory is 12 bytes for each open name, and at most 8 more while an
 * object closes.
 */
import { escapeBytes, escapedCode, utf8Bytes } from './escape.ts'
import { JsonSlice, skipString } from './slice.ts'
import { decodeRaw } from './strings.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** The hash of a name is computed byte by byte: `hash * HASH_FACTOR + byte`. */
export const HASH_FACTOR = 31
const SPREAD_FACTOR = 0x9e3779b1
/**
 * Fields of an open name: its hash, the start of its token, and the bytes of compact JSON before
 * it.
 */
const FIELDS = 3
const FIRST_NAMES = 32
/** Up to this many names are compared pairwise, which is faster than a hash table. */
const PAIRWISE_NAMES = 8
const FIRST_SLOTS = 64
const SLOTS_PER_NAME = 1.25
/** With more probes for each name, the names are assumed to collide on purpose. */
const LOOKS_PER_NAME = 32

/** Hash of a name that may hold escapes. Equal for every spelling of the name. */
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

/** Marker bits of the first UTF-8 byte of a code point, by the number of bytes that follow. */
const LEADS: readonly number[] = [0, 0xc0, 0xe0, 0xf0]

/** Names of the open objects of one scan. */
export class OpenKeys {
  readonly #bytes: Buffer
  #names = new Int32Array(FIRST_NAMES * FIELDS)
  #slots = new Uint32Array(0)
  /** Numbers in slots are never used twice, so the table needs no clearing between objects. */
  #used = 1
  #repeats = 0
  /** Bytes of compact JSON of the replaced members, with commas, of the object closed last. */
  repeatedBytes = 0
  /** Number of open names. {@link close} takes the count before an object's first name. */
  count = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  /**
   * Adds the name whose token starts at `start`. `compactBefore` is the bytes of compact JSON
   * before it.
   */
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

  /**
   * Closes the object whose names start at index `first`. Returns the number of its members that
   * are replaced.
   */
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

  /** Marks the member at `at` as replaced. It ends where the next one starts. */
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
