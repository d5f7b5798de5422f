// JSON as a tree in which nothing is lost that a test must see: a number is its token, an object
// keeps the order of its keys (also "10" before "2"), of a duplicate key the last value counts at
// the first position. Knows nothing of src/, whose answers it judges.
// It does not check the form of a number, nor bound the depth.

/** A JSON number by its token, as written. */
export class NumberToken {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Tree = null | boolean | string | NumberToken | readonly Tree[] | TreeObject
export type TreeObject = ReadonlyMap<string, Tree>

const SPACE = /[ \t\n\r]*/y
const STRING_STOP = /["\\]/g
const SCALAR = /[-+.\w]+/y

/**
 * Reads one JSON document; tells `seen` the source text of each member of an outermost object.
 * Throws a SyntaxError where it cannot go on.
 */
export function parseTree(source: string, seen?: Seen): Tree {
  return new Reader(source).document(seen)
}

/** Compact JSON: tokens, key order and strings as they are in the tree. */
export function toJson(tree: Tree): string {
  if (tree instanceof NumberToken) return tree.text
  if (isList(tree)) return `[${tree.map(toJson).join(',')}]`
  if (isObject(tree)) {
    return `{${[...tree].map(([key, value]) => `${JSON.stringify(key)}:${toJson(value)}`).join(',')}}`
  }
  return JSON.stringify(tree)
}

export function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree)
}

export function isObject(tree: Tree): tree is TreeObject {
  return tree instanceof Map
}

type Seen = (key: string, source: string) => void

class Reader {
  readonly #source: string
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  /** Tells `seen` the source text of each member of the outermost object. */
  document(seen?: Seen): Tree {
    const tree = this.#value(seen)
    this.#take(SPACE)
    if (this.#at < this.#source.length) throw this.#error()
    return tree
  }

  #value(seen?: Seen): Tree {
    this.#take(SPACE)
    const first = this.#source[this.#at]
    if (first === '{') return this.#object(seen)
    if (first === '[') return this.#array()
    if (first === '"') return this.#string()
    return this.#scalar()
  }

  #object(seen?: Seen): Tree {
    const members = new Map<string, Tree>()
    this.#items('}', () => {
      const key = this.#string()
      this.#expect(':')
      this.#take(SPACE)
      const start = this.#at
      members.set(key, this.#value())
      seen?.(key, this.#source.slice(start, this.#at))
    })
    return members
  }

  #array(): Tree {
    const items: Tree[] = []
    this.#items(']', () => items.push(this.#value()))
    return items
  }

  #items(close: string, item: () => void): void {
    this.#at++
    this.#take(SPACE)
    if (this.#source[this.#at] !== close) {
      do {
        this.#take(SPACE)
        item()
        this.#take(SPACE)
      } while (this.#source[this.#at++] === ',')
      this.#at--
    }
    this.#expect(close)
  }

  // a loop, since one pattern for the whole token overflows on strings of tens of megabytes
  #string(): string {
    const start = this.#at
    if (this.#source[start] !== '"') throw this.#error()
    STRING_STOP.lastIndex = start + 1
    for (;;) {
      const stop = STRING_STOP.exec(this.#source)
      if (stop === null) throw this.#error()
      if (stop[0] === '"') break
      STRING_STOP.lastIndex++
    }
    this.#at = STRING_STOP.lastIndex
    return JSON.parse(this.#source.slice(start, this.#at)) as string
  }

  #scalar(): Tree {
    const token = this.#take(SCALAR)
    if (token === 'null') return null
    if (token === 'true') return true
    if (token === 'false') return false
    if (!/^-?\d/.test(token)) throw this.#error()
    return new NumberToken(token)
  }

  #expect(char: string): void {
    this.#take(SPACE)
    if (this.#source[this.#at] !== char) throw this.#error()
    this.#at++
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const token = pattern.exec(this.#source)?.[0] ?? ''
    this.#at += token.length
    return token
  }

  #error(): SyntaxError {
    return new SyntaxError(`unexpected text at ${this.#at}`)
  }
}
