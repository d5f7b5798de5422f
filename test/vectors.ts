// The tests' own oracle: reads the golden vectors, and compares answers with them.
// Knows nothing of src/, so that the two cannot be wrong together.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { isList, isObject, NumberToken, parseTree, type Tree, type TreeObject } from './tree.ts'

export { NumberToken, parseTree, type Tree, toJson } from './tree.ts'

export interface Vector {
  readonly name: string
  /** The part of `name` before the slash. */
  readonly kind: string
  /** Generator specs expanded. */
  readonly input: Tree
  /** The input's JSON as the file has it: duplicate keys stand, generator specs too. */
  readonly inputText: string
  /** Generator specs expanded; digests (see `sameText`) stand. */
  readonly expected: Tree
}

const FOLDER = new URL('./vectors/', import.meta.url)

/** Every vector of a family, in file order; read and expanded one at a time. */
export function* vectors(family: string): Generator<Vector> {
  const text = gunzipSync(readFileSync(new URL(`${family}.jsonl.gz`, FOLDER))).toString('ascii')
  for (const line of text.split('\n')) {
    if (line !== '') yield toVector(line)
  }
}

function toVector(line: string): Vector {
  const spans = new Map<string, string>()
  const members = parseTree(line, (key, source) => spans.set(key, source))
  const name = text(member(members, 'name'))
  return {
    name,
    kind: name.slice(0, name.indexOf('/')),
    input: expand(member(members, 'input')),
    inputText: spans.get('input') ?? '',
    expected: expand(member(members, 'expected')),
  }
}

/** The value of a key of an object; throws when `tree` is no object or lacks the key. */
export function member(tree: Tree, key: string): Tree {
  const value = tree instanceof Map ? (tree as TreeObject).get(key) : undefined
  if (value === undefined) throw new TypeError(`no member ${JSON.stringify(key)}`)
  return value
}

/** The string that `tree` is; throws when it is none. */
export function text(tree: Tree): string {
  if (typeof tree !== 'string') throw new TypeError('not a string')
  return tree
}

/** Replaces the generator specs `$repeat`, `$concat` and `$seq` by the strings they describe. */
export function expand(tree: Tree): Tree {
  if (isList(tree)) return tree.map(expand)
  if (!isObject(tree)) return tree
  return generated(tree) ?? new Map([...tree].map(([key, value]) => [key, expand(value)]))
}

function generated(tree: TreeObject): string | undefined {
  const [only, another] = tree
  if (only === undefined || another !== undefined) return undefined
  const [key, spec] = only
  if (key === '$repeat') return text(expand(at(spec, 0))).repeat(number(at(spec, 1)))
  if (key === '$concat')
    return list(spec)
      .map((part) => text(expand(part)))
      .join('')
  if (key === '$seq') return sequence(spec)
  return undefined
}

function sequence(spec: Tree): string {
  const from = number(member(spec, 'from'))
  const to = number(member(spec, 'to'))
  const pad = number(member(spec, 'pad'))
  const before = text(expand(member(spec, 'before')))
  const after = text(expand(member(spec, 'after')))
  let out = ''
  for (let n = from; n <= to; n++) out += before + String(n).padStart(pad, '0') + after
  return out
}

/** Whether `got` is the expected string, which may be given whole, as a spec, or by its digest. */
export function sameText(expected: Tree, got: unknown): boolean {
  if (typeof got !== 'string') return false
  const digest = isObject(expected) ? expected.get('$sha256') : undefined
  if (digest === undefined) return expand(expected) === got
  return createHash('sha256').update(got, 'utf8').digest('hex') === digest
}

/** Every [first, last] code point range, both inclusive, of `debug_escape_ranges.csv`. */
export function escapedRanges(): (readonly [number, number])[] {
  const lines = readFileSync(new URL('debug_escape_ranges.csv', FOLDER), 'ascii').split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [first = '', last = ''] = line.split(',')
      return [Number.parseInt(first, 16), Number.parseInt(last, 16)] as const
    })
}

function list(tree: Tree): readonly Tree[] {
  if (!isList(tree)) throw new TypeError('not an array')
  return tree
}

function at(tree: Tree, index: number): Tree {
  const value = list(tree)[index]
  if (value === undefined) throw new TypeError(`no item ${index}`)
  return value
}

function number(tree: Tree): number {
  if (!(tree instanceof NumberToken)) throw new TypeError('not a number')
  return Number(tree.text)
}
