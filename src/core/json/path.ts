/**
 * Finding a value inside a value, by the dotted path of a reference or by JSON Pointer. Own members only, whatever their
 * names; of a repeated member the last. Segments of a dotted path may be empty; an index is what Rust's `usize::parse`
 * takes (digits, leading zeros and one `+` allowed); a pointer's index is RFC 6901's (no leading zeros).
 */
import { AVAILABLE_ENTRIES, AVAILABLE_ENTRY_CHARS } from '../limits.ts'
import { charsOf, firstChars } from '../text.ts'
import { countElements, distinctMembersOf, elementsOf, type JsonSlice, membersOf } from './slice.ts'
import { decodeRaw } from './strings.ts'

const DOTTED_INDEX = /^\+?[0-9]+$/
const POINTER_INDEX = /^(?:0|[1-9][0-9]*)$/

export type PathSyntax = 'dotted' | 'pointer'

export type PathResult =
  | { readonly found: JsonSlice }
  /** `missing` is the segment that was not there, `available` what was (a bounded list), `inside` the kind it was sought in. */
  | { readonly missing: string; readonly inside: string; readonly available: readonly string[] }

/** Splits the part of a reference after its handle: `""`, `.a.0` or `#/a/0`. Undefined when a pointer is malformed. */
export function segmentsOf(
  path: string,
): { syntax: PathSyntax; segments: readonly string[] } | undefined {
  if (path === '') return { syntax: 'dotted', segments: [] }
  if (path.startsWith('.')) return { syntax: 'dotted', segments: path.slice(1).split('.') }
  const segments = pointerSegments(path.slice(1))
  return segments && { syntax: 'pointer', segments }
}

/** The segments of a JSON Pointer; undefined when it is malformed. */
export function pointerSegments(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** One segment as it stands in a JSON Pointer. */
export function pointerEscape(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Follows `segments` from `value`. */
export function findPath(
  value: JsonSlice,
  segments: readonly string[],
  syntax: PathSyntax,
): PathResult {
  let cursor = value
  for (const segment of segments) {
    const next = step(cursor, segment, syntax)
    if (next === undefined) {
      return { missing: segment, inside: cursor.kind, available: availableIn(cursor) }
    }
    cursor = next
  }
  return { found: cursor }
}

function step(value: JsonSlice, segment: string, syntax: PathSyntax): JsonSlice | undefined {
  if (value.kind === 'object') {
    let found: JsonSlice | undefined
    for (const member of membersOf(value)) {
      if (decodeRaw(member.key) === segment) found = member.value
    }
    return found
  }
  if (value.kind !== 'array') return undefined
  if (!(syntax === 'dotted' ? DOTTED_INDEX : POINTER_INDEX).test(segment)) return undefined
  const index = Number(segment)
  let position = 0
  for (const element of elementsOf(value)) {
    if (position++ === index) return element
  }
  return undefined
}

/** What a path could go on with: member names, or the span of indices. */
function availableIn(value: JsonSlice): string[] {
  if (value.kind === 'array') {
    const count = countElements(value)
    return count === 0 ? [] : [`0..${count - 1}`]
  }
  if (value.kind !== 'object') return []
  const names = [...distinctMembersOf(value).keys()].slice(0, AVAILABLE_ENTRIES)
  return names.map((name) => {
    const shown = name.toWellFormed()
    return charsOf(shown) > AVAILABLE_ENTRY_CHARS
      ? `${firstChars(shown, AVAILABLE_ENTRY_CHARS)}…`
      : shown
  })
}
