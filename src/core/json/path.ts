/**
 * Finds a value inside a value, by the dotted path of a reference or by JSON Pointer. Any own
 * member can be named; of a repeated member the last counts. Segments of a dotted path may be
 * empty. An index in a dotted path is what Rust's `usize::parse` takes: digits, with leading zeros
 * and one `+` allowed. An index in a pointer is that of RFC 6901.
 */
import { AVAILABLE_ENTRIES, AVAILABLE_ENTRY_CHARS, MAX_JSON_DEPTH_LEVELS } from '../limits.ts'
import { charsOf, firstChars } from '../text.ts'
import { countElements, elementsOf, type JsonSlice, membersOf } from './slice.ts'
import { decodeRaw, isNamed } from './strings.ts'

const DOTTED_INDEX = /^\+?[0-9]+$/
const POINTER_INDEX = /^(?:0|[1-9][0-9]*)$/
/**
 * More segments than any value has levels. A longer path is cut there, since it leads nowhere
 * either way.
 */
const SEGMENTS = MAX_JSON_DEPTH_LEVELS + 1
/** Up to this many segments are compared with each raw name, which is faster than decoding it. */
const FEW_STEPS = 4

/** How a path is written: `.rows.0` or `#/rows/0`. */
export type PathSyntax = 'dotted' | 'pointer'

export type PathResult =
  | { readonly found: JsonSlice }
  /**
   * `missing`: the segment that was not found. `inside`: the kind of the value it was looked for
   * in. `available`: its members, a bounded list.
   */
  | { readonly missing: string; readonly inside: string; readonly available: readonly string[] }

/**
 * Splits the part of a reference after its handle: `.a.0` or `#/a/0`. Undefined when a pointer is
 * malformed.
 *
 * @example segmentsOf('.rows.0') // { syntax: 'dotted', segments: ['rows', '0'] }
 */
export function segmentsOf(path: string): Path | undefined {
  if (path.startsWith('.')) {
    return { syntax: 'dotted', segments: path.slice(1).split('.', SEGMENTS) }
  }
  const segments = pointerSegments(path.slice(1))
  return segments && { syntax: 'pointer', segments }
}

/**
 * The segments of a JSON Pointer (RFC 6901); undefined when it is malformed.
 *
 * @example pointerSegments('/a~1b/0') // ['a/b', '0']
 */
export function pointerSegments(pointer: string): readonly string[] | undefined {
  if (pointer === '') return []
  if (!pointer.startsWith('/') || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split('/', SEGMENTS)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * Escapes one segment for a JSON Pointer.
 *
 * @example pointerEscape('a/b') // 'a~1b'
 */
export function pointerEscape(segment: string): string {
  return segment.replaceAll('~', '~0').replaceAll('/', '~1')
}

export interface Path {
  readonly segments: readonly string[]
  readonly syntax: PathSyntax
}

/**
 * Finds the value at one path.
 *
 * @example findPath(json('{"a":[7]}'), segmentsOf('.a.0')).found.toString() // '7'
 */
export function findPath(value: JsonSlice, path: Path): PathResult {
  return findPaths(value, [path])[0] as PathResult
}

/**
 * Finds the values at many paths in one walk. Shared parts are read once, so many paths into a
 * large value cost little more than one. Results are in the order of `paths`.
 *
 * @example findPaths(json('[1]'), [segmentsOf('.1')])[0].available // ['0..0']
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

/** The paths that continue with one segment, and the value that it names. */
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

/** The array index that a segment names; -1 when it is no index. */
function indexOf({ segment, syntax }: Step): number {
  return (syntax === 'dotted' ? DOTTED_INDEX : POINTER_INDEX).test(segment) ? Number(segment) : -1
}

/** Member names, or the range of indices, with which a path could continue. */
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
