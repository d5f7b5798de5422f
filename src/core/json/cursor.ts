/**
 * Reads arrays and objects of a validated value in one pass, at any number of levels. The reader of
 * each element returns where it ends, so nothing is walked twice.
 */
import { JsonSlice, nextItem, skipString, skipValue, valueAfter } from './slice.ts'
import { TokenReader } from './strings.ts'

const CLOSE_OBJECT = 0x7d
const CLOSE_ARRAY = 0x5d

/** Members of an object by name. The last value of a repeated name counts. */
export class Fields {
  readonly #names: string[] = []
  readonly #values: JsonSlice[] = []

  /** Adds a member. */
  add(name: string, value: JsonSlice): void {
    this.#names.push(name)
    this.#values.push(value)
  }

  /**
   * The value of a member. Takes time linear in the number of members: use it for a few names only.
   */
  get(name: string): JsonSlice | undefined {
    let last = this.#names.length - 1
    while (last >= 0 && this.#names[last] !== name) last--
    return this.#values[last]
  }
}

/** Reads one value by positions. */
export class Cursor {
  readonly #bytes: Buffer
  readonly #end: number
  readonly #names: TokenReader

  /** All positions are in the buffer of `value`. */
  constructor({ bytes, end }: JsonSlice) {
    this.#bytes = bytes
    this.#end = end
    this.#names = new TokenReader(bytes)
  }

  /** The value at `start`. */
  value(start: number): JsonSlice {
    return new JsonSlice(this.#bytes, start, skipValue(this.#bytes, start, this.#end))
  }

  /**
   * Reads the array at `start`. `read` gets the start of each element and returns its end. Returns
   * the end of the array.
   */
  array(start: number, read: (start: number) => number): number {
    const bytes = this.#bytes
    const end = this.#end
    let pos = nextItem(bytes, start + 1, end)
    while (bytes[pos] !== CLOSE_ARRAY) pos = nextItem(bytes, read(pos), end)
    return pos + 1
  }

  /** Reads the object at `start` in the same way. Names are decoded, with lone surrogates kept. */
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

  /** Reads the members of the object at `start` into `fields`. Returns its end. */
  fields(start: number, fields: Fields): number {
    return this.object(start, (name, at) => {
      const value = this.value(at)
      fields.add(name, value)
      return value.end
    })
  }
}
