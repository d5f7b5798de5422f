/**
 * References in tool arguments. A whole string `$r1`, `$r1.rows.0` or `$r1#/rows/0` stands for a
 * value.
 *
 * Arguments are read in one pass: substituted values are not searched for references, keys are
 * never references, and the arguments as a whole may be one. A reference that cannot be resolved
 * stays as it is. Other strings with a `$` are no references.
 */
import { CoatcheckError } from './errors.ts'
import { findPaths, type PathResult, pointerEscape, segmentsOf } from './json/path.ts'
import { JsonSlice, nextItem, skipString, skipValue, valueAfter } from './json/slice.ts'
import { editParts, type JsonParts, type Part, partBytes } from './json/splice.ts'
import { headBytes } from './json/string-ends.ts'
import { decodeRaw } from './json/strings.ts'
import { POINTER_NAME_BYTES, REFERENCE_SHOWN_CHARS, REFERENCES } from './limits.ts'
import { clipHead, firstChars } from './text.ts'

/** `$r`, digits, then nothing, a dotted path or a pointer. `s`: member names may hold line ends. */
const REFERENCE = /^\$(r[0-9]+)((?:[.#].*)?)$/s
const DOLLAR = 0x24
const BACKSLASH = 0x5c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** A reference found in arguments. */
export interface Reference {
  /** The string token in the arguments. */
  readonly token: JsonSlice
  /** The reference with its `$`. */
  readonly text: string
  readonly handle: string
  /** Part after the handle: empty, `.a.0` or `#/a/0`. */
  readonly path: string
  /** Place in the arguments, for {@link pointerTo}. */
  readonly place: Place | null
}

export const UNRESOLVED_REASONS = [
  'unknown_handle',
  'path_not_found',
  'failure',
  'suspension',
  'binary',
] as const
export type UnresolvedReason = (typeof UNRESOLVED_REASONS)[number]

/**
 * Finds every string in `args` that has the form of a reference, in document order and in one pass.
 * Throws `over_limit` when there are more than `most`.
 *
 * @example findReferences(json('["$r1.a", "$5"]')).map(({ text }) => text) // ['$r1.a']
 */
export function findReferences(args: JsonSlice, most = REFERENCES): readonly Reference[] {
  const { bytes, end } = args
  const found: Reference[] = []
  let pos = args.start
  const readLeaf = (at: Place | null): void => {
    const token = new JsonSlice(bytes, pos, skipValue(bytes, pos, end))
    pos = token.end
    const reference = token.kind === 'string' ? readReference(token, at) : undefined
    if (reference !== undefined && found.push(reference) > most) throw tooMany(most)
  }
  const visit = (at: Place | null): void => {
    switch (bytes[pos]) {
      case OPEN_ARRAY:
        pos = nextItem(bytes, pos + 1, end)
        for (let index = 0; bytes[pos] !== CLOSE_ARRAY; index++) {
          visit({ up: at, step: index })
          pos = nextItem(bytes, pos, end)
        }
        pos++
        break
      case OPEN_OBJECT:
        pos = nextItem(bytes, pos + 1, end)
        while (bytes[pos] !== CLOSE_OBJECT) {
          const key = new JsonSlice(bytes, pos, skipString(bytes, pos))
          pos = valueAfter(bytes, key.end, end)
          visit({ up: at, step: key })
          pos = nextItem(bytes, pos, end)
        }
        pos++
        break
      default:
        readLeaf(at)
    }
  }
  visit(null)
  return found
}

/** Place in the arguments as a linked list. It becomes a pointer only where one is needed. */
interface Place {
  readonly up: Place | null
  readonly step: number | JsonSlice
}

function tooMany(most: number): CoatcheckError {
  return new CoatcheckError(
    'over_limit',
    `The arguments hold more than ${most} references. Reference what they have in common ("$r1.rows"), or make several calls.`,
    { limit: 'references', value: most },
  )
}

/**
 * JSON Pointer to a reference. Long names are cut.
 *
 * @example findReferences(json('{"a": ["$r1"]}')).map(pointerTo) // ['/a/0']
 */
export function pointerTo({ place }: Reference): string {
  const segments: string[] = []
  for (let p = place; p !== null; p = p.up) {
    const name = typeof p.step === 'number' ? String(p.step) : shownName(p.step)
    segments.push(`/${pointerEscape(name)}`)
  }
  return segments.reverse().join('')
}

/**
 * Text of a reference for messages. A long one is cut.
 *
 * @example findReferences(json('["$r1"]')).map(shownReference) // ['$r1']
 */
export function shownReference({ text }: Reference): string {
  const start = firstChars(text, REFERENCE_SHOWN_CHARS)
  return start.toWellFormed() + (start.length < text.length ? '…' : '')
}

function shownName(key: JsonSlice): string {
  const head = headBytes(key, POINTER_NAME_BYTES)
  const end = clipHead(head, POINTER_NAME_BYTES)
  return `${head.toString('utf8', 0, end)}${end < head.length ? '…' : ''}`
}

function readReference(token: JsonSlice, place: Place | null): Reference | undefined {
  const first = token.bytes[token.start + 1]
  // A reference begins with `$`, which may be written as an escape.
  if (first !== DOLLAR && first !== BACKSLASH) return undefined
  const text = decodeRaw(token)
  const match = REFERENCE.exec(text)
  if (match === null) return undefined
  const [, handle, path] = match as unknown as readonly [string, string, string]
  return { token, text, handle, path, place }
}

/**
 * Whether a reference stands for a whole value. Then the value need not be read to find it.
 *
 * @example findReferences(json('["$r1", "$r1.a"]')).map(isWhole) // [true, false]
 */
export function isWhole({ path }: Reference): boolean {
  return segmentsOf(path)?.segments.length === 0
}

/** A reference that was not resolved, with its reason and with what exists instead. */
export interface Unfound {
  readonly reference: Reference
  readonly reason: UnresolvedReason
  readonly missing?: string
  readonly available: readonly string[]
}

/** A reference with its value, or with the reason why it has none. */
export type Lookup<Value = JsonSlice> =
  | { readonly reference: Reference; readonly value: Value }
  | Unfound

/** Reasons that hold for every reference of a handle, whatever its path. */
export type HandleReason = Exclude<UnresolvedReason, 'path_not_found'>

/**
 * Marks the references of a handle that has no value. `handles` are offered in place of an unknown
 * one.
 *
 * @example unfound(findReferences(json('["$r9"]')), 'unknown_handle', ['r1'])[0].reason // 'unknown_handle'
 */
export function unfound(
  references: readonly Reference[],
  reason: HandleReason,
  handles: readonly string[],
): readonly Unfound[] {
  const available = reason === 'unknown_handle' ? handles : []
  return references.map((reference) => ({ reference, reason, available }))
}

/**
 * Resolves all references of one handle in one walk of its value.
 *
 * @example lookUp(findReferences(json('["$r1.a"]')), json('{"a":7}'))[0].value.toString() // '7'
 */
export function lookUp(references: readonly Reference[], value: JsonSlice): readonly Lookup[] {
  const paths = references.map((reference) => segmentsOf(reference.path))
  const results = findPaths(
    value,
    paths.filter((path) => path !== undefined),
  ).values()
  return references.map((reference, n) => {
    const found = paths[n] === undefined ? undefined : (results.next().value as PathResult)
    if (found !== undefined && 'found' in found) return { reference, value: found.found }
    const { missing, available } = found ?? { missing: reference.path, available: [] }
    return { reference, reason: 'path_not_found', missing: missing.toWellFormed(), available }
  })
}

/**
 * `args` with every resolved reference replaced by its value.
 *
 * @example substitute(json('[1]'), []).parts.map(String).join('') // '[1]'
 */
export function substitute(args: JsonSlice, lookups: readonly Lookup<Part>[]): JsonParts {
  return editParts(
    args,
    lookups.flatMap((lookup) => {
      if (!('value' in lookup)) return []
      const { start, end } = lookup.reference.token
      return [{ start, end, bytes: lookup.value }]
    }),
  )
}

/**
 * Bytes that {@link substitute} adds to the arguments. Known before any value is read.
 *
 * @example addedBytes([]) // 0
 */
export function addedBytes(lookups: readonly Lookup<Part>[]): number {
  let bytes = 0
  for (const lookup of lookups) {
    if (!('value' in lookup)) continue
    const { token } = lookup.reference
    bytes += partBytes(lookup.value) - (token.end - token.start)
  }
  return bytes
}
