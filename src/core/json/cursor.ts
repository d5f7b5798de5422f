/**
 * Reads the upper levels of a value that `scan.ts` has validated in one pass, however many levels that are: what is read of
 * an array or object says where it ends, so that nothing is walked again to find what follows.
 */
import { JsonSlice, nextItem, skipString, skipValue, valueAfter } from './slice.ts'
import { TokenReader } from './strings.ts'

const CLOSE_OBJECT = 0x7d
const CLOSE_ARRAY = 0x5d

/** The members of an object by name; of a repeated name the last value. */
export class Fields {
  readonly #names: string[] = []
  readonly #values: JsonSlice[] = []

  add(name: string, value: JsonSlice): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  /** Looks at every name: for a few names of an object, not for all of them. */
  get(name: string): JsonSlice | undefined {
    let last = this.#names.length - 1
    while (last >= 0 && this.#names[last] !== name) last--
    return this.#values[last]
  }
}

export class Cursor {
  readonly #bytes: Buffer
  readonly #end: number
  readonly #names: TokenReader

  /** Reads in `value`. All positions are in its bytes. */
  constructor({ bytes, end }: JsonSlice) {
    this.#bytes = bytes
    this.#end = end
    this.#names = new TokenReader(bytes)
  }

  /** The value at `start`. */
  value(start: number): JsonSlice {
    return new JsonSlice(this.#bytes, start, skipValue(this.#bytes, start, this.#end))
  }

  /** Reads the array at `start`; `read` gets where each element starts, and says where it ends. Says where the array ends. */
  array(start: number, read: (start: number) => number): number {
    const bytes = this.#bytes
    const end = this.#end
    let pos = nextItem(bytes, start + 1, end)
    while (bytes[pos] !== CLOSE_ARRAY) pos = nextItem(bytes, read(pos), end)
    return pos + 1
  }

  /** Reads the object at `start` as an array is read. Names are decoded, lone surrogates kept. */
  object(start: number, read: (name: string, start: number) => number): number {
    const bytes = this.#bytes
    const end = this.#end
    let pos = nextItem(bytes, start + 1, end)
    while (bytes[pos] !== CLOSE_OBJECT) {
      const key = new JsonSlice(bytes, pos, skipString(bytes, pos))
      pos = read(this.#names.decode(key), valueAfter(bytes, key.end, end))
      pos = nextItem(bytes, pos, end)
    }
    return pos + 1
  }

  /** Reads the members of the object at `start` into `fields`. Says where it ends. */
  fields(start: number, fields: Fields): number {
    return this.object(start, (name, at) => {
      const value = this.value(at)
      fields.add(name, value)
      return value.end
    })
  }
}
