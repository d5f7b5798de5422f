/**
 * Finding a value inside a value, by the dotted path of a reference or by JSON Pointer. Own members only, whatever their
 * names; of a repeated member the last. Segments of a dotted path may be empty; an index is what Rust's `usize::parse`
 * takes (digits, leading zeros and one `+` allowed); a pointer's index is RFC 6901's (no leading zeros).
 */
import { AVAILABLE_ENTRIES, AVAILABLE_ENTRY_CHARS, MAX_JSON_DEPTH_LEVELS } from '../limits.ts'
import { charsOf, firstChars } from '../text.ts'
import { countElements, elementsOf, type JsonSlice, membersOf } from './slice.ts'
import { decodeRaw, isNamed } from './strings.ts'

const DOTTED_INDEX = /^\+?[0-9]+$/
const POINTER_INDEX = /^(?:0|[1-9][0-9]*)$/
/** No value has so many levels: a longer path is cut there, and leads nowhere either way. */
const SEGMENTS = MAX_JSON_DEPTH_LEVELS + 1
/** Up to so many segments are compared with each name as it stands, which is quicker than to decode it. */
const FEW_STEPS = 4

export type PathSyntax = 'dotted' | 'pointer'

export type PathResult =
  | { readonly found: JsonSlice }
  /** `missing` is the segment that was not there, `available` what was (a bounded list), `inside` the kind it was sought in. */
  | { readonly missing: string; readonly inside: string; readonly available: readonly string[] }

/** Splits the part of a reference after its handle: `""`, `.a.0` or `#/a/0`. Undefined when a pointer is malformed. */
export function segmentsOf(path: string): Path | undefined {
  if (path.startsWith('.')) {
    return { syntax: 'dotted', segments: path.slice(1).split('.', SEGMENTS) }
  }
  const segments = pointerSegments(path.slice(1))
  return segments && { syntax: 'pointer', segments }
}

/** The segments of a JSON Pointer; undefined when it is malformed. */
export function pointerSegments(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/', SEGMENTS)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** One segment as it stands in a JSON Pointer. */
export function pointerEscape(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

export interface Path {
  readonly segments: readonly string[]
  readonly syntax: PathSyntax
}

/** Follows one path from `value`. */
export function findPath(value: JsonSlice, path: Path): PathResult {
  return findPaths(value, [path])[0] as PathResult
}

/**
 * Follows every path from `value`, in one walk: what paths share is read once, so that many of them into a large value cost
 * little more than one. Results are in the order of the paths.
 */
export function findPaths(value: JsonSlice, paths: readonly Path[]): readonly PathResult[] {
  const results = new Array<PathResult>(paths.length)
  const follow = (at: JsonSlice, indices: readonly number[], depth: number): void => {
    const onward: number[] = []
    for (const index of indices) {
      if ((paths[index] as Path).segments.length === depth) results[index] = { found: at }
      else onward.push(index)
    }
    if (onward.length === 0) return
    const steps = stepsOf(paths, onward, depth)
    findSteps(at, steps)
    const missing = steps.some((step) => step.next === undefined)
    const available = missing ? availableIn(at) : []
    for (const { segment, indices: stepping, next } of steps) {
      if (next !== undefined) follow(next, stepping, depth + 1)
      else
        for (const index of stepping)
          results[index] = { missing: segment, inside: at.kind, available }
    }
  }
  follow(value, [...paths.keys()], 0)
  return results
}

/** The paths that go on by one segment, and where it leads once it is found. */
interface Step {
  readonly segment: string
  readonly syntax: PathSyntax
  readonly indices: number[]
  next: JsonSlice | undefined
}

function stepsOf(
  paths: readonly Path[],
  indices: readonly number[],
  depth: number,
): readonly Step[] {
  const steps: Record<PathSyntax, Map<string, Step>> = { dotted: new Map(), pointer: new Map() }
  for (const index of indices) {
    const { segments, syntax } = paths[index] as Path
    const segment = segments[depth] as string
    const step = steps[syntax].get(segment)
    if (step !== undefined) step.indices.push(index)
    else steps[syntax].set(segment, { segment, syntax, indices: [index], next: undefined })
  }
  return [...steps.dotted.values(), ...steps.pointer.values()]
}

function findSteps(value: JsonSlice, steps: readonly Step[]): void {
  if (value.kind === 'object') findMembers(value, steps)
  else if (value.kind === 'array') findElements(value, steps)
}

function findMembers(object: JsonSlice, steps: readonly Step[]): void {
  if (steps.length <= FEW_STEPS) {
    for (const { key, value } of membersOf(object)) {
      for (const step of steps) if (isNamed(key, step.segment)) step.next = value
    }
    return
  }
  const bySegment = Map.groupBy(steps, (step) => step.segment)
  for (const { key, value } of membersOf(object)) {
    for (const step of bySegment.get(decodeRaw(key)) ?? []) step.next = value
  }
}

function findElements(array: JsonSlice, steps: readonly Step[]): void {
  const byIndex = Map.groupBy(steps, indexOf)
  let last = -1
  for (const index of byIndex.keys()) last = Math.max(last, index)
  let position = 0
  for (const element of elementsOf(array)) {
    if (position > last) break
    for (const step of byIndex.get(position++) ?? []) step.next = element
  }
}

/** The position that a segment means in an array; -1 for none. */
function indexOf({ segment, syntax }: Step): number {
  return (syntax === 'dotted' ? DOTTED_INDEX : POINTER_INDEX).test(segment) ? Number(segment) : -1
}

/** What a path could go on with: member names, or the span of indices. */
function availableIn(value: JsonSlice): string[] {
  if (value.kind === 'array') {
    const count = countElements(value)
    return count === 0 ? [] : [`0..${count - 1}`]
  }
  if (value.kind !== 'object') return []
  const names = new Set<string>()
  for (const { key } of membersOf(value)) {
    if (names.add(decodeRaw(key)).size === AVAILABLE_ENTRIES) break
  }
  return [...names].map((name) => {
    const shown = name.toWellFormed()
    return charsOf(shown) > AVAILABLE_ENTRY_CHARS
      ? `${firstChars(shown, AVAILABLE_ENTRY_CHARS)}…`
      : shown
  })
}
